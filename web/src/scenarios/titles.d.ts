/** Made when the page is built, of the files in `scenarios/`: the title of each by its name. */
declare module 'virtual:gallery-titles' {
  const titles: Readonly<Record<string, { en?: string; zh?: string }>>;
  export default titles;
}
