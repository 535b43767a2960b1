import coldStart from '../../../scenarios/cold-start.json';
import delayedWrite from '../../../scenarios/delayed-write.json';
import fiveNodes from '../../../scenarios/five-nodes.json';
import gracefulResignation from '../../../scenarios/graceful-resignation.json';
import leaderCrash from '../../../scenarios/leader-crash.json';
import minorityLeader from '../../../scenarios/minority-leader.json';
import pausedLeader from '../../../scenarios/paused-leader.json';
import plainRaftMinorityLeader from '../../../scenarios/plain-raft-minority-leader.json';
import plainRaftReturningNode from '../../../scenarios/plain-raft-returning-node.json';
import readBeforeFence from '../../../scenarios/read-before-fence.json';
import schedulerPaused from '../../../scenarios/scheduler-paused.json';
import schedulerTakeover from '../../../scenarios/scheduler-takeover.json';
import threeNodeElection from '../../../scenarios/three-node-election.json';
import writersWithoutLeader from '../../../scenarios/writers-without-leader.json';
import type { Scenario } from '../model/scenario';

export interface BuiltIn {
  id: string;
  scenario: Scenario;
}

/** The scenarios that come with the page: those of the gallery that every test runs. It opens with the first. */
export const BUILT_IN: readonly BuiltIn[] = [
  { id: 'five-nodes', scenario: fiveNodes },
  { id: 'three-node-election', scenario: threeNodeElection },
  { id: 'cold-start', scenario: coldStart },
  { id: 'leader-crash', scenario: leaderCrash },
  { id: 'graceful-resignation', scenario: gracefulResignation },
  { id: 'minority-leader', scenario: minorityLeader },
  { id: 'paused-leader', scenario: pausedLeader },
  { id: 'delayed-write', scenario: delayedWrite },
  { id: 'read-before-fence', scenario: readBeforeFence },
  { id: 'writers-without-leader', scenario: writersWithoutLeader },
  { id: 'scheduler-takeover', scenario: schedulerTakeover },
  { id: 'scheduler-paused', scenario: schedulerPaused },
  { id: 'plain-raft-returning-node', scenario: plainRaftReturningNode },
  { id: 'plain-raft-minority-leader', scenario: plainRaftMinorityLeader },
];
