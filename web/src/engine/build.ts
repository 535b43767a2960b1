/**
 * The builds of the simulator, by what each runs besides Raft: nothing, the other elections among peers, those over a store,
 * or all of them.
 */
export type Build = 'raft' | 'peers' | 'stores' | 'whole';

const BUILD_OF: ReadonlyMap<unknown, Build> = new Map<string, Build>([
  ['zab', 'peers'],
  ['sentinel', 'peers'],
  ['kraft', 'peers'],
  ['etcd', 'stores'],
  ['etcd-single', 'stores'],
  ['milvus', 'stores'],
  // The servers of this store elect among themselves, as zab does.
  ['zookeeper', 'whole'],
  ['zookeeper-controller', 'whole'],
  ['kubernetes', 'stores'],
  ['redis', 'stores'],
  ['redlock', 'stores'],
  ['sql', 'stores'],
  ['sql-session', 'stores'],
]);

/** The smallest build that runs a scenario; the one with Raft alone can say as well what is wrong with a text that names no scheme. */
export function buildFor(text: string): Build {
  try {
    return BUILD_OF.get(JSON.parse(text).scheme) ?? 'raft';
  } catch {
    return 'raft';
  }
}

/** Whether one build runs what another is for. */
export function runs(build: Build, other: Build): boolean {
  return build === other || build === 'whole' || other === 'raft';
}
