import { beforeAll, describe, expect, it } from 'vitest';
import { toEngineError } from '../engine/errors';
import type { WorldModule } from '../engine/world';
import { LANGS, translator } from '../i18n/translate';
import { actors, frame, nodeRows, summaryRow } from '../testing/fixtures';
import { loadEngine } from '../testing/wasm';
import { readCluster } from './cluster';
import { describeCluster, fieldText, messageText, problemText, valueText } from './text';

describe('what the engine refuses', () => {
  let module: WorldModule;
  beforeAll(async () => {
    module = await loadEngine();
  });

  const refusal = (text: string) => {
    try {
      module.checkScenario(text);
    } catch (error) {
      return toEngineError(error).problem;
    }
    throw new Error('accepted');
  };
  const scenario = (rest: object) => JSON.stringify({ tenure: 1, scheme: 'raft', ...rest });

  it('is said in both languages, with the place', () => {
    const bad = [
      '{ nonsense',
      JSON.stringify({ scheme: 'raft' }),
      scenario({ nodez: 3 }),
      scenario({ nodes: 0 }),
      scenario({ seed: 'x' }),
      scenario({ disk: { write: '5 apples' } }),
      scenario({ network: { loss: '200%' } }),
      scenario({ network: { latency: ['9ms', '1ms'] } }),
      scenario({ raft: { heartbeat: '900ms' } }),
      scenario({ faults: [{ at: '1s', crash: 'n9' }] }),
      scenario({ duration: '1s', faults: [{ at: '2s', crash: 'n1' }] }),
      scenario({ faults: [{ at: '1s' }] }),
      scenario({ client: { takeover: 'never' } }),
    ];
    for (const text of bad) {
      const problem = refusal(text);
      expect(problem.code).not.toBe('engine-stopped');
      const [en, zh] = [problemText(problem, 'en'), problemText(problem, 'zh')];
      expect(en.place, problem.code).not.toBe('');
      expect(en.reason, problem.code).toMatch(/^\S.*\.$/);
      expect(en.remedy, problem.code).toMatch(/^\S.*\.$/);
      expect(zh.place, problem.code).not.toContain('line');
      expect(zh.reason, problem.code).toMatch(/[\u4e00-\u9fff].*。$/);
      expect(zh.remedy, problem.code).toMatch(/。$/);
      expect(zh.reason + zh.remedy, problem.code).not.toMatch(/[{}]/);
    }
  });

  it('names what would be right', () => {
    const problem = refusal(scenario({ client: { takeover: 'never' } }));
    expect(problemText(problem, 'zh').remedy).toBe('可用的有 fence-first, read-first。');
    const unsafe = refusal(scenario({ raft: { heartbeat: '120ms' } }));
    expect(problemText(unsafe, 'zh').reason).toContain('心跳间隔超过最短选举超时的一半');
  });
});

describe('an inspected field', () => {
  it('has a name and a value for people, and keeps what is not known', () => {
    const t = translator('en');
    expect(fieldText('leaseUntil', t)).toBe('lease until');
    expect(valueText({ path: 'leaseUntil', value: 1_234_000 }, t)).toBe('1.234 s');
    expect(valueText({ path: 'diskWrite', value: 1500 }, t)).toBe('1.5 ms');
    expect(valueText({ path: 'serving', value: false }, t)).toBe('no');
    expect(valueText({ path: 'vote', value: null }, t)).toBe('–');
    const zh = translator('zh');
    expect(valueText({ path: 'role', value: 'leader established' }, zh)).toBe(zh('role.leader'));
    expect(valueText({ path: 'role', value: 'leader elected' }, zh)).toBe(zh('role.elected'));
    expect(valueText({ path: 'status', value: 'paused' }, zh)).toBe(zh('status.paused'));
    expect(valueText({ path: 'vote', value: 'n2' }, zh)).toBe('n2');
    expect(fieldText('brandNew', t)).toBe('brandNew');
    // A count is no code of a reason.
    expect(valueText({ path: 'refused', value: '0' }, t)).toBe('0');
    expect(valueText({ path: 'opinion', value: 'odown' }, t)).toBe('ODOWN');
    expect(valueText({ path: 'failover', value: 'wait-promotion' }, t)).toBe('wait-promotion');
  });

  it('keep the names of protocol messages, in every language', () => {
    for (const lang of LANGS) {
      expect(messageText(6, translator(lang))).toBe('Heartbeat');
      expect(messageText(22, translator(lang))).toBe(translator(lang)('message.Write'));
      expect(messageText(199, translator(lang))).toBe(translator(lang)('message.other'));
    }
  });
});

describe('the cluster in sentences', () => {
  it('names the leader, the missing and the cut', () => {
    const links = new Uint8Array(9);
    links[1] = 1;
    const view = readCluster(
      frame({
        nodes: nodeRows({ role: 4 }, { status: 2 }, { status: 1 }),
        links,
        summary: summaryRow({ leader: 0, leaderTerm: 2, staleUnfenced: 1 }),
      }),
      actors(3),
    );
    expect(describeCluster(view, translator('en'))).toBe(
      'n1 leads term 2. Crashed: n2. Paused: n3. Cut link directions: 1. Stale writes accepted: 1.',
    );
    const idle = readCluster(frame({ nodes: nodeRows({}, {}, {}) }), actors(3));
    expect(describeCluster(idle, translator('zh'))).toBe('没有领导者。');
  });
});
