import type { Explained } from './explained';

/** What each rule says, and what breaks when it is off, in English. By its name in files. */
export const RULES: Explained = {
  'durable-before-reply': {
    name: 'Durable before reply',
    text: 'A message waits until the record it rests on is on disk. Off: who restarts votes twice in a term.',
  },
  'one-vote-a-term': {
    name: 'One vote a term',
    text: 'A node grants one candidate a term. Off: it votes for two.',
  },
  'new-term-new-vote': {
    name: 'New term, new vote',
    text: 'A higher term frees the vote. Off: after one failed election nobody is elected any more.',
  },
  'up-to-date-log': {
    name: 'Up-to-date log',
    text: 'A vote goes only to a log that is as complete. Off: a leader lacks what was committed.',
  },
  'majority-of-voters': {
    name: 'Majority of voters',
    text: 'More than half of all voters elect. Off, half is enough: two lead in one term.',
  },
  'count-once': {
    name: 'Count once',
    text: 'A voter counts once, however often its answer arrives. Off: two lead in one term.',
  },
  'own-term-grants': {
    name: 'Grants of the own term',
    text: 'A late vote for an earlier term does not count. Off: two lead in one term.',
  },
  'validity-from-send': {
    name: 'Validity from the send',
    text: 'A leader believes from the send of what was acknowledged. Off, from the answer: two believe at once.',
  },
  'own-term-acks': {
    name: 'Answers of the own term',
    text: 'Only answers to the own term extend the lease. Off: two believe at once.',
  },
  'promise-binds-voter': {
    name: 'A promise binds the voter',
    text: 'Who heard the leader grants no vote for a while. Off: two believe at once.',
  },
  'promise-binds-candidate': {
    name: 'A promise binds the candidate',
    text: 'Who heard the leader does not stand for a while. Off: two believe at once.',
  },
  'promise-outlives-restart': {
    name: 'A promise outlives a restart',
    text: 'Who restarts waits its promise out. Off: two believe at once.',
  },
  'promise-outlives-term': {
    name: 'A promise outlives a term',
    text: 'A higher term does not end a promise. Off: two believe at once.',
  },
  'refuse-without-adopting': {
    name: 'Refuse without adopting',
    text: 'Who is under a promise refuses, and keeps its term. Off: one candidate with a high term deposes a live leader.',
  },
  'release-own-term': {
    name: 'Release of the own term',
    text: 'Who resigns frees from promises to its own term alone. Off: two believe at once.',
  },
  'lapse-deposes': {
    name: 'A lapse deposes',
    text: 'A tenure that lapsed is over for good. Off: an expired token is valid again.',
  },
  'pre-vote': {
    name: 'PreVote',
    text: 'Who would stand asks first, in its old term. Off: a node that comes back deposes a live leader.',
  },
  'redraw-per-attempt': {
    name: 'A new draw each time',
    text: 'Every attempt draws its timeout anew. Off: two with one draw split the vote for ever.',
  },
  'promise-from-answer': {
    name: 'The promise in the answer',
    text: 'A lease lasts as long as voters say they wait. Off: where nodes are configured differently, two believe at once.',
  },
  'log-matching': {
    name: 'Log matching',
    text: 'A follower takes entries only after one that it has. Off: logs differ in the middle.',
  },
  'commit-matched': {
    name: 'Commit what matches',
    text: 'A follower takes for committed what it knows to agree with its leader. Off: states differ.',
  },
  'ack-durable': {
    name: 'Acknowledge what is durable',
    text: 'A follower acknowledges what is on its disk. Off: committed entries are lost in a crash.',
  },
  'own-copy-durable': {
    name: 'The own copy too',
    text: 'A leader counts its own copy once it is on disk. Off: committed entries are lost in a crash.',
  },
  'commit-own-term': {
    name: 'Commit in the own term',
    text: 'Counting commits entries of the own term alone (figure 8). Off: committed ones may be replaced.',
  },
  'read-confirmed': {
    name: 'Reads are confirmed',
    text: 'A read waits for a majority that was asked after it. Off: an old leader answers with old values.',
  },
  'read-own-term': {
    name: 'Reads in the own term',
    text: 'A read waits for an entry of the own term. Off: a new leader answers with old values.',
  },
  'suffix-from-best': {
    name: 'Suffix from the best',
    text: 'A candidate takes what it lacks from the most complete log of a majority. Off: committed entries are replaced.',
  },
  'suffix-adopts-term': {
    name: 'A suffix brings its term',
    text: 'Entries and their term go to disk in one write. Off: no restart accepts the log.',
  },
  'suffix-rechecked': {
    name: 'A suffix is looked at again',
    text: 'Question, promise and log are checked when it arrives. Off: acknowledged entries are dropped.',
  },
  'one-change-at-a-time': {
    name: 'One change at a time',
    text: 'The next change of members waits for the last to be committed. Off: two groups decide apart.',
  },
  'joint-needs-both': {
    name: 'A joint group needs both halves',
    text: 'During a change decisions need a majority of old and new. Off: two groups decide apart.',
  },
  'change-after-own-term': {
    name: 'Change after the own term',
    text: 'A new leader changes members once it has committed. Off: two groups decide apart.',
  },
  'transfer-when-caught-up': {
    name: 'Hand over to who has all',
    text: 'A successor has the whole log first. Off: a healthy leader goes, and everybody refuses the next.',
  },
  'demote-by-timer': {
    name: 'The clock ends it',
    text: 'A tenure ends by the own clock, whatever the store says. Off, when the store says so: two believe at once.',
  },
  nonce: {
    name: 'A nonce, not a name',
    text: 'A record is one’s own by the number of the attempt. Off: two processes of one name both hold it.',
  },
  'compare-and-delete': {
    name: 'Compare and delete',
    text: 'A record is given up only while it is one’s own. Off: the successor’s is deleted, and a third takes it.',
  },
  'recheck-own-record': {
    name: 'Look at the own place again',
    text: 'Whose turn comes checks that its own record is still there. Off: one whose session ended leads beside the next.',
  },
  'own-clock-only': {
    name: 'The own clock alone',
    text: 'A record stands for a lease from its first sight, whatever times it names. Off: a wrong clock takes it from one who lives.',
  },
  'majority-of-configured': {
    name: 'Majority of all servers',
    text: 'More than half of all that are configured must grant. Off, of those that answer: two hold.',
  },
  'outwait-former': {
    name: 'Outwait the former',
    text: 'Who takes over waits for as long as the former may believe. Off: its session is over, and it does not know yet.',
  },
  'proven-at-leader': {
    name: 'Proven at the leader',
    text: 'A session goes on from what the store’s leader heard, which a later write proves. Off: a server that dies takes a ping with it.',
  },
  'guarded-writes': {
    name: 'Guarded writes',
    text: 'A controller writes only together with a check of its epoch. Off: ZooKeeper takes what one that was overtaken had still to write.',
  },
  'own-session': {
    name: 'Own by its session',
    text: 'An ephemeral node is one’s own by its session. Off, by the name in it: who restarted takes the node of its former life for its election.',
  },
  'epoch-in-order': {
    name: 'Epochs before ids',
    text: 'Votes compare by epoch, then by log, then by id. Off: two votes beat each other, and the election turns in a circle.',
  },
  'check-leader': {
    name: 'A leader says so itself',
    text: 'Nobody joins a leader that has not said itself that it leads. Off: a crashed leader is elected again and again.',
  },
  'own-round': {
    name: 'Its own round',
    text: 'A node leads only by votes of its own round. Off: answers about an older round make it the leader.',
  },
  'established-epoch': {
    name: 'Answers name the established epoch',
    text: 'Once synchronised, all name the epoch that was established. Off: a newcomer hears answers that differ, and cannot join.',
  },
  'voters-only': {
    name: 'Voters alone count',
    text: 'Observers are counted nowhere. Off: a leader and its observers begin an epoch without a quorum.',
  },
  'accepted-durable': {
    name: 'The promise is on disk',
    text: 'An epoch is on disk before it is told or promised. Off: a leader that crashed begins the same epoch again.',
  },
  'refuse-older-epoch': {
    name: 'No way back',
    text: 'Who promised an epoch follows nobody of an earlier one. Off: it acknowledges what it had given up.',
  },
  'promise-once': {
    name: 'A promise counts once',
    text: 'Who promised an epoch before says so, and is not counted again. Off: two leaders begin one epoch.',
  },
  'most-recent-leads': {
    name: 'The most recent leads',
    text: 'A leader refuses who has the more recent history. Off: it replaces what was acknowledged.',
  },
  'epoch-after-history': {
    name: 'Epoch after history',
    text: 'The current epoch is written after the history it stands for. Off: who has less passes for the more recent.',
  },
  'history-synced': {
    name: 'The history is synced',
    text: 'NEWLEADER is acknowledged when the history is synced. Off: it is lost with the power.',
  },
  'own-acks': {
    name: 'Own acknowledgements',
    text: 'Each entry commits by its own acknowledgements. Off: what was committed is on too few disks.',
  },
  'history-before-new-leader': {
    name: 'History before NEWLEADER',
    text: 'NEWLEADER comes after the history that it ends. Off: it is acknowledged without that history.',
  },
  'snap-across-epochs': {
    name: 'A snapshot across epochs',
    text: 'Who has an entry that the leader does not know gets a snapshot. Off, it is only cut: entries of another epoch stay below.',
  },
  'reload-after-sync': {
    name: 'Read the disk again',
    text: 'After a synchronisation that broke off, memory is read from the disk. Off: entries follow others that the disk does not have.',
  },
  'cut-or-exit': {
    name: 'Cut or stop',
    text: 'Who cannot cut its log stops. Off: what should be gone comes back with the next start.',
  },
  'whole-log-elects': {
    name: 'The whole log elects',
    text: 'A node elects with all that is in its log. Off, with what it knows to be committed: what it did not tell of stays.',
  },
  'keep-buffered': {
    name: 'Keep what came early',
    text: 'What comes before UPTODATE is kept, and logged with it. Off: it is never logged.',
  },
  continuous: {
    name: 'Without a gap',
    text: 'Proposals follow one another without a gap. Off: entries land in other places than elsewhere.',
  },
  'packets-in-order': {
    name: 'In the order of sending',
    text: 'Packets of a connection are taken as they were sent. Off: what a link lost is not missed.',
  },
  'step-down-at-wrap': {
    name: 'Step down at the last number',
    text: 'A leader steps down when its epoch has no number left. Off: names of the next epoch are given twice.',
  },
  'deliver-established': {
    name: 'Deliver when established',
    text: 'A history is delivered when its epoch is established. Off: what a leader could not establish is delivered.',
  },
  'quorum-or-step-down': {
    name: 'A quorum, or step down',
    text: 'A leader that hears no quorum steps down. Off: cut off, it leads for ever.',
  },
  'sync-by-quorum': {
    name: 'A sync asks a quorum',
    text: 'A sync waits for a quorum that still follows. Off, as ZooKeeper ships: a replaced leader answers it, and the read is stale.',
  },
  'vote-durable': {
    name: 'The vote is on disk',
    text: 'A vote is in the file before it is told and counted. Off: who restarts votes twice in an epoch.',
  },
  'one-vote-an-epoch': {
    name: 'One vote an epoch',
    text: 'A voter has one vote an epoch. Off: it votes for two.',
  },
  'failover-epoch': {
    name: 'The epoch of the failover',
    text: 'Requests and the tally name the epoch of the failover. Off, as Redis ships: votes of two epochs add up, and two act in one (redis#2230).',
  },
  'own-masters-epoch': {
    name: 'Each master by its own epochs',
    text: 'Whether to vote goes by the epochs of that master. Off, as Redis ships: several masters that fail at once get in each other’s way.',
  },
  'all-known-voters': {
    name: 'All known sentinels',
    text: 'A majority is one of all known sentinels. Off, of those who answer: a minority elects.',
  },
  'majority-besides-quorum': {
    name: 'A majority besides the quorum',
    text: 'To be elected takes a majority, whatever the quorum. Off: a minority elects.',
  },
  'wait-after-vote': {
    name: 'Wait after a vote',
    text: 'Who voted for another waits for two failover timeouts. Off: attempts follow each other before one can end.',
  },
  'wait-after-attempt': {
    name: 'Wait after an attempt',
    text: 'Two failover timeouts lie between two attempts. Off: attempts follow each other before one can end.',
  },
  'config-epoch-rises': {
    name: 'Only by a later configuration',
    text: 'A master moves only by a configuration of a later epoch. Off: any hello undoes a failover.',
  },
  'overtaken-gives-up': {
    name: 'The overtaken gives up',
    text: 'Who hears of a later configuration drops its earlier failover. Off, as Redis ships: the config epoch falls back.',
  },
  'rewrite-names-promoted': {
    name: 'The file names the promoted',
    text: 'From the promotion on the file names the promoted as the master. Off: after a restart the new master is told to copy itself.',
  },
  'seed-mixed-with-node': {
    name: 'Chance of its own',
    text: 'The address is mixed into what is drawn (redis#10197). Off: sentinels that began alike stand alike, and nobody is elected.',
  },
  'rank-by-offset': {
    name: 'The most data first',
    text: 'Of equal replicas the one with the most data is promoted. Off: more writes are lost than need be.',
  },
  'candidate-follows': {
    name: 'Only who followed',
    text: 'Only a replica that followed the present master is promoted. Off, as Redis ships: old data comes back to power (redis#12570).',
  },
  'tilt-only-watches': {
    name: 'A leap of the clock: only watch',
    text: 'A sentinel whose clock made a leap only watches for a while. Off: who was frozen takes its own silence for the master’s.',
  },
  'last-sign-of-life': {
    name: 'Age from the last sign of life',
    text: 'How long a replica may be out of touch counts from the master’s last sign of life. Off, as Redis ships: sentinels that woke late promote nobody for ever (redis#5677).',
  },
  'durable-before-leading': {
    name: 'Leading is on disk',
    text: 'Who won leads when its disk says so. Off: after a crash it wins the same epoch again, and gives the same names twice.',
  },
  'directory-in-votes': {
    name: 'The disk has a vote, not the name',
    text: 'A replaced disk is another voter. Off: it votes a second time for the one it replaced.',
  },
  'fetched-follower-refuses': {
    name: 'Who fetches refuses',
    text: 'A follower that fetched from its leader refuses pre-votes. Off: a node that comes back deposes a live leader.',
  },
  'unfetched-follower-grants': {
    name: 'Who has not fetched grants',
    text: 'A follower that has not fetched yet grants pre-votes (KAFKA-17641). Off: two send each other back to a dead leader for ever.',
  },
  'pre-vote-not-persisted': {
    name: 'A pre-vote is no vote',
    text: 'A pre-vote is not recorded. Off: it takes the vote of an epoch from whoever needs it.',
  },
  'spread-backoff': {
    name: 'Losers wait differently',
    text: 'Who lost an election waits any time below the longest. Off, as Kafka ships it: after a few attempts nearly all wait the longest, and split the vote again.',
  },
  'own-epoch-high-watermark': {
    name: 'Its own epoch first',
    text: 'A leader shows a high watermark when a majority has a record of its own epoch. Off: it shows what the next may lack.',
  },
  'high-watermark-never-falls': {
    name: 'It never falls',
    text: 'The high watermark of a leader never goes back. Off: a fetch that comes late takes it back.',
  },
  'truncate-first': {
    name: 'Cut first',
    text: 'A follower that diverges cuts its log before it takes over a high watermark (KAFKA-14704). Off: it shows its own tail as committed.',
  },
  'divergence-checked': {
    name: 'Logs are compared',
    text: 'A leader compares what the follower has with its own log. Off: logs differ in the middle.',
  },
  'flush-before-fetch': {
    name: 'On disk before the next fetch',
    text: 'A voter’s disk holds what it fetched before it fetches on. Off: a crash loses what was committed.',
  },
  'flush-before-own-ack': {
    name: 'The own copy on disk',
    text: 'A leader counts its own copy when its disk holds it. Off: what only it and one other had is lost.',
  },
  'check-quorum': {
    name: 'It checks its quorum',
    text: 'A leader that no majority fetches from resigns (KAFKA-15489). Off: cut off, it leads for ever.',
  },
  'restarted-leader-resigns': {
    name: 'A restarted leader resigns',
    text: 'Who restarts as a leader leads that epoch no more. Off: it gives the names of lost records to others.',
  },
  'claim-after-catchup': {
    name: 'Claim after catching up',
    text: 'A controller acts once it has applied the log up to its own epoch (KAFKA-17333). Off: it decides on an old state.',
  },
  'renounce-resigns-raft': {
    name: 'Who gives up, resigns',
    text: 'A controller that gives up has its node resign (KAFKA-13104). Off: a healthy leader without a controller.',
  },
  'eligible-for-isr': {
    name: 'Only who may lead is in sync',
    text: 'A broker that is fenced or about to go enters no ISR (KAFKA-13916). Off: it does.',
  },
  'last-known-is-active': {
    name: 'The last leader must be active',
    text: 'The last known leader is elected when it is active (KAFKA-19522). Off: a fenced broker leads.',
  },
  'clean-election': {
    name: 'Clean elections',
    text: 'Only who is in the ISR, or in the ELR when that is empty, is elected. Off: anybody active is, and what was committed is lost.',
  },
  'unclean-leaves': {
    name: 'Who lost its tail leaves',
    text: 'A broker that lost the end of its log leaves ISR and ELR when it registers again (KAFKA-18106). Off: it leads without what was committed.',
  },
  'broker-epoch-checked': {
    name: 'Each life by its own epoch',
    text: 'What was said under a former registration is refused (KIP-903). Off: a broker that came back empty is in sync for what it was before.',
  },
  'later-epoch-is-not-controller': {
    name: 'A later epoch: not the controller',
    text: 'Who knows a later epoch than the controller is told that this is none (KAFKA-14154). Off: it takes itself to be fenced, and its ISR changes no more.',
  },
  'leader-epoch-rises': {
    name: 'The leader epoch rises',
    text: 'It rises whenever the leader is written. Off: two leaders under one token.',
  },
  'applies-committed': {
    name: 'Only committed metadata',
    text: 'A broker applies what is committed. Off: it leads by a decision that never was.',
  },
  'leader-epoch-fences': {
    name: 'The leader epoch fences',
    text: 'A replica takes nothing that was said in another leader epoch (KIP-101). Off: what a follower had before counts for what it has now.',
  },
  'truncates-by-epoch': {
    name: 'Cut off by epochs',
    text: 'A follower cuts off what its leader’s epochs say is not there (KIP-101). Off, by its own high watermark: committed records are cut off.',
  },
  'divergence-moves-nothing': {
    name: 'Divergence commits nothing',
    text: 'An answer that says the logs diverge moves no high watermark (KAFKA-14704). Off: a tail about to be cut off counts as committed.',
  },
  'reaches-epoch-start': {
    name: 'Up to the epoch’s start',
    text: 'A follower enters the ISR once it has all from before the leader’s epoch (KAFKA-7128). Off: it is elected without what was committed before.',
  },
  'maximal-isr': {
    name: 'Whoever may be in sync',
    text: 'The high watermark waits for those who were proposed for the ISR, too. Off: who is dropped without leave is elected, and lacks what was committed.',
  },
  'min-isr-for-high-watermark': {
    name: 'No commit below the minimum',
    text: 'With ELR the high watermark stands still while the ISR is below min.insync.replicas (KIP-966). Off: who is eligible lacks what is committed.',
  },
};
