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
};
