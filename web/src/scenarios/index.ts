import coldStart from '../../../tests/scenarios/cold-start.json';
import delayedWrite from '../../../tests/scenarios/delayed-write.json';
import fiveNodes from '../../../tests/scenarios/five-nodes.json';
import gracefulResignation from '../../../tests/scenarios/graceful-resignation.json';
import leaderCrash from '../../../tests/scenarios/leader-crash.json';
import minorityLeader from '../../../tests/scenarios/minority-leader.json';
import pausedLeader from '../../../tests/scenarios/paused-leader.json';
import plainRaftMinorityLeader from '../../../tests/scenarios/plain-raft-minority-leader.json';
import plainRaftReturningNode from '../../../tests/scenarios/plain-raft-returning-node.json';
import readBeforeFence from '../../../tests/scenarios/read-before-fence.json';
import threeNodeElection from '../../../tests/scenarios/three-node-election.json';
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
  { id: 'plain-raft-returning-node', scenario: plainRaftReturningNode },
  { id: 'plain-raft-minority-leader', scenario: plainRaftMinorityLeader },
];
