import type { Cards } from './card';

/** How each scheme answers, in English. */
export const CARDS: Cards = {
  raft: {
    leads: 'Who has the votes of a majority for its term, for as long as a majority answers its heartbeats.',
    next: 'A follower that heard nothing for an election timeout asks around, and stands if a majority would vote for it: 200 to 500 ms with the usual timeouts.',
    old: 'It stops by its own clock when no majority answers. Its term is the token: the fenced resource refuses the rest.',
    costs:
      'A heartbeat and an answer a follower, every 50 ms. No other system; three or five nodes with disks.',
    suffices: 'When the nodes are few, know each other, and should depend on nothing else.',
    breaks:
      'A majority down or apart: nobody leads. Clocks beyond the bound, a disk that loses what it confirmed: two may.',
    used: 'etcd, Consul, TiKV, CockroachDB.',
  },
  zab: {
    leads:
      'Who has the promises of a quorum for a new epoch, on disk. The election before it, by votes that bind nobody, only finds a server with the most recent history; two may both think that they won.',
    next: 'Whoever loses its leader looks again, at once where the connection broke: votes, 200 ms without anything better, then discovery and synchronisation. A leader that is silent is missed after syncLimit ticks (10 s).',
    old: 'A quorum that promised the next epoch acknowledges nothing of the old one. The old leader steps down when it hears no quorum for syncLimit ticks; it has no lease, and its reads may be stale until then. The epoch is the token.',
    costs:
      'Two pings a tick and follower. Three or five servers with disks; each epoch writes two small files.',
    suffices: 'When the work is to keep a small state that all may read and watch: what ZooKeeper is.',
    breaks:
      'A majority down or apart: nobody leads. A disk that lost what it confirmed; a leader that is deserted right after its election costs initLimit ticks (ZOOKEEPER-3109).',
    used: 'ZooKeeper, and so HBase, Solr, Kafka before 4.0.',
  },
  sentinel: {
    leads:
      'The data server that most sentinels name as the master. Sentinels lead nothing: one of them is elected for each failover alone, by one vote an epoch.',
    next: 'A sentinel holds the master to be down after down-after (SDOWN), a quorum agrees (ODOWN), one has the votes of a majority and promotes the replica with the most data. A split vote waits for two failover-timeouts.',
    old: 'Nothing. The old master takes writes until a sentinel reaches it and makes it a replica, and what it took is thrown away. min-replicas-to-write bounds that. The config epoch could be a token; no server asks for it.',
    costs: 'Each sentinel pings every server each second. Three sentinels or more, apart from the data.',
    suffices: 'A cache, or data of which the last moments may be lost.',
    breaks:
      'Acknowledged writes are lost with every failover that comes before their copy, by design. A partition leaves two masters. Sentinel is not Raft: its vote elects who fails over, and no log stands behind it.',
    used: 'Redis and Valkey, and whatever keeps sessions, queues or locks in them.',
  },
  kraft: {
    leads:
      'The controller that a majority of the voters voted for in an epoch. It is active once it has applied the log up to a record of its own epoch; until then it answers nobody.',
    next: 'A voter whose fetches fail for the fetch timeout (2 s) asks whether it would be voted for, and stands if so, after one to two election timeouts. A leader that resigns names its successors.',
    old: 'It resigns when no majority has fetched from it for one and a half fetch timeouts, so that for a while two may believe. What fences it is the epoch: voters and brokers refuse an older one.',
    costs:
      'Followers ask, leaders answer: two fetches a second each at rest. A record is committed one fetch later than where a leader pushes.',
    suffices: 'When many observe and few vote, and the state is a log of metadata.',
    breaks:
      'A majority down or apart: nobody leads. A disk that was replaced, where voters are named without their disks.',
    used: 'Kafka since 3.3, and Kafka alone since 4.0.',
  },
  etcd: {
    leads:
      'Whose key in the election was created first. The key is bound to a lease that its holder keeps alive.',
    next: 'Each candidate watches the key before its own: the next in the queue is told at once when it goes. After a crash that is when the lease ends.',
    old: 'It stops by its own clock, counted from the send of the last keep-alive that was answered. The revision in which its key was created is the token.',
    costs:
      'A keep-alive and a look every third of the lease for each candidate, waiting or not, and one watch. No herd.',
    suffices:
      'For most services that run beside etcd: at most one leader within the bound on clocks, and a token that never falls.',
    breaks:
      'A restore from a snapshot lets revisions fall: raise the generation, or restore with a bump of the revision.',
    used: 'The election recipe of etcd’s client, and what is built on it.',
  },
  'etcd-single': {
    leads: 'Who created the one key of the election; it is bound to a lease.',
    next: 'All who wait watch that key, and all try when it goes: one transaction wins.',
    old: 'As with the queue: by its own clock. The revision in which the key was created is the token.',
    costs: 'As the queue; and when the key goes, every candidate asks at once.',
    suffices: 'With few candidates, or where everybody should read one key to see who leads.',
    breaks: 'A restore from a snapshot, as with the queue; with many candidates, the herd.',
    used: 'The “one key and a TTL” recipe of most guides.',
  },
  milvus: {
    leads: 'Which coordinator put the active key, bound to the lease of its own session.',
    next: 'Standbys watch the active key. When it goes, each first renews its own session, then tries.',
    old: 'It stops by its own clock; where the original exits its process, this one also shows its token.',
    costs: 'A session for each coordinator, kept alive every third of its lease, and one watch.',
    suffices: 'An active and a standby that must load its data before it serves.',
    breaks:
      'The original writes without a token, and a standby with a dead session tries for ever (milvus#30100): neither is so here.',
    used: 'Milvus: root, data, query and index coordinators.',
  },
  zookeeper: {
    leads:
      'Whose ephemeral node has the smallest sequence number under the election, while the session it belongs to lives.',
    next: 'Each candidate watches the node before its own. After a crash it goes when the session expires, by ZooKeeper’s clock alone.',
    old: 'Suspended is not lost: it goes on until its own deadline, counted from a write that was acknowledged, and no further. The zxid that created its node is the token.',
    costs:
      'A small write and a read every third of the session timeout for the holder and the next, as a ping that a follower answered proves nothing; two reads for each other.',
    suffices: 'Where ZooKeeper is there already.',
    breaks:
      'The sequence number as a token: it is an int32, and starts again with its parent. A session id is no epoch.',
    used: 'Curator’s LeaderLatch, HBase, HDFS failover.',
  },
  'zookeeper-controller': {
    leads:
      'Which broker created the one ephemeral node, and in the same transaction raised the epoch beside it by one.',
    next: 'All watch that node, and all try when it goes: one transaction wins. After a crash that is when the session expires.',
    old: 'Its own clock, as with the queue. What it writes into ZooKeeper goes with a check of the epoch’s version; what it tells brokers carries the epoch, and they refuse an older one.',
    costs:
      'A small transaction and a read every third of the session timeout for the holder, one read for each other; and when the node goes, every candidate asks at once.',
    suffices: 'A handful of candidates whose decisions are kept in the same ZooKeeper.',
    breaks:
      'A write without the check: a controller that woke late wrote beside its successor (KAFKA-6082). An epoch that is read from another’s election is not one’s own (KAFKA-1096).',
    used: 'Kafka before 4.0, where it ran with ZooKeeper.',
  },
  kubernetes: {
    leads: 'Whose name is in the Lease object. Each change is made only on the version that was read.',
    next: 'Who waits looks every few seconds, and takes over when the object has not changed for a whole lease by its own clock.',
    old: 'It stops by its own clock, counted from the send of its last update, even while one hangs. The resource version of the write that took the Lease is the token.',
    costs:
      'A write every two seconds for the holder and a read every two to four for each who waits, with client-go’s timings.',
    suffices: 'Controllers whose writes go through the same API server and are idempotent.',
    breaks:
      'Clocks whose rates differ by more than lease to deadline (15 to 10 s); somebody who deletes or edits the object; a pause without a guard.',
    used: 'Every Kubernetes controller; OpenShift with longer leases.',
  },
  redis: {
    leads: 'Whose random value is under the key (SET NX PX), for as long as it extends it.',
    next: 'Who waits tries again and again. After a crash that is when the key expires, by the clock of Redis.',
    old: 'It stops by its own clock. A counter that rises with each lock is the token, as long as the data lives.',
    costs: 'One script every third of the lease for the holder, and a try every retry for each who waits.',
    suffices: 'For work that may run twice: it saves effort, and promises nothing.',
    breaks:
      'A failover to a replica that had not heard of the lock; eviction; a restart without the tail; a jump of the clock. Two lead, and the counter may repeat.',
    used: 'Schedulers, Redisson’s locks, SETNX recipes.',
  },
  redlock: {
    leads:
      'Whose value is on a majority of independent Redis servers, if the round took less than the lease.',
    next: 'Who waits tries all of them again after a random pause.',
    old: 'It stops by its own clock. There is no token: nothing can refuse what it still sends.',
    costs: 'A script on each of five servers for each try and each extension.',
    suffices: 'For work that may run twice, where one Redis must not stop it.',
    breaks:
      'A clock that jumps on one server, a server that restarts without its data: two have a majority, and no resource can tell them apart.',
    used: 'Redlock libraries (redsync, node-redlock, Redisson’s RedLock).',
  },
  sql: {
    leads: 'Whose name is in the row, until the time in it by the clock of the database.',
    next: 'Who waits asks every retry; the row is taken in one conditional statement once its time is over.',
    old: 'It stops by its own clock. The epoch in the row rises in the same statement: it is the token, and it outlives a release.',
    costs: 'One statement every third of the lease for the holder, and one every retry for each who waits.',
    suffices:
      'Where the work writes to that very database: the epoch can be checked in the same transaction.',
    breaks:
      'A failover to an asynchronous standby, a restore: the epoch falls back, and two hold the same. The clock of the application in place of the database’s.',
    used: 'Schedulers on a database (ShedLock, db-scheduler, Quartz in its own way).',
  },
  'sql-session': {
    leads:
      'Whose session holds the advisory lock and drew the last epoch in the row. There is no time in it: the lock goes with the session.',
    next: 'Who waits tries the lock every retry. After a crash that is when the server notices; and the next then waits for a lease, unless the former holder wrote that it had stopped.',
    old: 'It stops by its own clock, counted from the send of the last probe that its very session answered. The epoch it drew in the row is the token.',
    costs:
      'A connection for each candidate; a probe every third of the lease for the holder, a try every retry for each who waits. Two writes a term.',
    suffices: 'A batch job beside one database, without a pooler in between.',
    breaks:
      'What loses commits: a failover to an asynchronous standby, a restore. Poolers in transaction mode and half-open connections cost time, not safety.',
    used: 'Advisory locks in job runners; Quartz with a row lock.',
  },
};
