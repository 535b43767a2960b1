// Made when the page is built, of the files in `scenarios/`: the title of each by its name, in one language.

declare module 'virtual:gallery-titles/en' {
  const titles: Readonly<Record<string, string>>;
  export default titles;
}

declare module 'virtual:gallery-titles/zh' {
  const titles: Readonly<Record<string, string>>;
  export default titles;
}
