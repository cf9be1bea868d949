import type { Hint } from '@sonde/sdk/api'
import type { SpokenMoment } from './hint-words.ts'
import type { MomentHints } from './moment-hints.ts'

/** The time of tests. Unit: milliseconds since the Unix epoch. */
export const NOW_MS = 1_790_000_000_000

/** A storm that has lasted 2 min 5 s, with changes of a test. */
export function testHint(more: Partial<Hint> = {}): Hint {
  const { seenMs = NOW_MS } = more
  return {
    id: 'retransmission_storm/nic-mlx5_3-1',
    event: '1789999875000000000',
    rule: 'retransmission_storm',
    severity: 'critical',
    stage: 'standing',
    device: 'nic-mlx5_3-1',
    sinceMs: NOW_MS - 125_000,
    seenMs,
    measuredMs: seenMs,
    neededMs: 3_000,
    title: 'NIC 3 is losing packets',
    sentence: 'mlx5_3 counts 2.4 k sequence errors/s, its siblings 0, limit 100/s',
    value: 2_400,
    comparator: '>=',
    limit: 100,
    unit: 'errors',
    evidence: [{ metric: 'rdma_hw_packet_seq_err_total', function: 'rate', matchers: [] }],
    affected: [],
    lacks: [],
    ...more,
  }
}

/** An answer with exactly these hints. */
export function testSeen(hints: readonly Hint[] = [], more: Partial<MomentHints> = {}): MomentHints {
  return { hints, ended: [], isKnown: true, unknown: [], ...more }
}

/** Now, or a moment of the past. */
export function testMoment(more: Partial<SpokenMoment> = {}): SpokenMoment {
  return { nowMs: NOW_MS, tense: 'present', zone: 'utc', ...more }
}
