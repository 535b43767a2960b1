import type { Scenario } from '../model/scenario';
import fiveNodes from './five-nodes.json';
import leaderCrash from './leader-crash.json';
import minorityLeader from './minority-leader.json';
import pausedLeader from './paused-leader.json';
import threeNodeElection from './three-node-election.json';

export interface BuiltIn {
  id: string;
  scenario: Scenario;
}

/** The scenarios that come with the page; the first is the one it opens with. */
export const BUILT_IN: readonly BuiltIn[] = [
  { id: 'five-nodes', scenario: fiveNodes },
  { id: 'three-node-election', scenario: threeNodeElection },
  { id: 'leader-crash', scenario: leaderCrash },
  { id: 'minority-leader', scenario: minorityLeader },
  { id: 'paused-leader', scenario: pausedLeader },
];
