import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Hint, spanOfHint } from '@sonde/sdk/api'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { RULES } from '../hints/hints.ts'
import { hintGroups } from './hint-groups.ts'

const START_MS = Date.UTC(2026, 10, 30, 14, 3)

function hintAt(number: number, sinceMs: number, more: Partial<Hint> = {}): Hint {
  const { rule = 'link_flap', device = 'nic-1' } = more
  return {
    ...{ id: `${rule}/${device}`, event: String(number), rule, device, severity: 'warning', stage: 'standing' },
    ...{ sinceMs, seenMs: sinceMs, measuredMs: sinceMs, endedMs: sinceMs + 1000, outcome: 'ended', neededMs: 0 },
    ...{ title: '', sentence: '', value: 1, comparator: '>=', limit: 1, unit: '' },
    ...{ evidence: [], affected: [], lacks: [], ...more },
  }
}

/** The rule of the house, a pair at a time: whether two hints have one cause. `later` began later. */
function isOneCause(earlier: Hint, later: Hint): boolean {
  const isSimulated = ({ device }: Hint) => device.startsWith('sim-')
  const isExplained = (effect: Hint, cause: Hint) => {
    const where = RULES.find(({ name }) => name === effect.rule)?.explainedBy?.[cause.rule]
    return where === 'node' || (where === 'device' && effect.device === cause.device)
  }
  if (isSimulated(earlier) !== isSimulated(later)) return false
  const apartMs = later.sinceMs - earlier.sinceMs
  const isAgain = later.sinceMs <= (spanOfHint(earlier).toMs ?? Number.POSITIVE_INFINITY) + 120_000
  if (earlier.device === later.device && earlier.rule === later.rule) return isAgain
  if (earlier.rule === later.rule && apartMs <= 30_000) return true
  if (apartMs > 300_000 || !isAgain) return false
  if (isExplained(later, earlier)) return true
  const isHolding = later.sinceMs <= (spanOfHint(earlier).toMs ?? Number.POSITIVE_INFINITY)
  if (isHolding && isExplained(earlier, later)) return true
  if (earlier.severity === 'notice' || later.severity === 'notice') return false
  if (earlier.affected.includes(later.device)) return true
  return isHolding && (earlier.device === later.device || later.affected.includes(earlier.device))
}

/** Groups by comparing all pairs. */
function groupsOfPairs(hints: readonly Hint[]): string[] {
  const byStart = hints.toSorted((a, b) => a.sinceMs - b.sinceMs || Number(a.event) - Number(b.event))
  let groups: Hint[][] = []
  for (const hint of byStart) {
    const isJoined = (group: Hint[]) => group.some((other) => isOneCause(other, hint))
    const joined = groups.filter(isJoined).flat()
    groups = [...groups.filter((group) => !isJoined(group)), [...joined, hint]]
  }
  return namesOf(groups)
}

function namesOf(groups: readonly (readonly Hint[])[]): string[] {
  return groups
    .map((group) =>
      group
        .map(({ event }) => Number(event))
        .sort((a, b) => a - b)
        .join(' '),
    )
    .sort()
}

test('hints are grouped as a comparison of all pairs groups them, whatever their order', () => {
  const random = new Random(SEED)
  const devices = ['nic-1', 'nic-2', 'gpu-1', 'gpu-2', 'node', 'sim-nic-1', 'sim-gpu-1', 'sim-node']
  const rules = [...new Set(RULES.map(({ name }) => name))]
  for (let round = 0; round < 60; round++) {
    const spreadMs = random.pick([120_000, 1_200_000, 12_000_000])
    const hints = Array.from({ length: 60 }, (_, number) => {
      const sinceMs = START_MS + random.integer(0, spreadMs)
      const endedMs = sinceMs + random.integer(0, 200_000)
      return hintAt(number + 1, sinceMs, {
        ...{ rule: random.pick(rules), device: random.pick(devices) },
        ...{ severity: random.pick(['critical', 'warning', 'notice'] as const) },
        ...(random.integer(0, 5) === 0 ? { endedMs: undefined as never } : { endedMs }),
        affected: random.integer(0, 2) === 0 ? [random.pick(devices)] : [],
      })
    })
    assert.deepEqual(namesOf(hintGroups(hints)), groupsOfPairs(hints))
    assert.deepEqual(namesOf(hintGroups(hints.toReversed())), groupsOfPairs(hints))
  }
})

test('an effect that is over when a fault begins has another cause; an effect that follows has this one', () => {
  const effect = (sinceMs: number) => hintAt(1, sinceMs, { rule: 'straggler', device: 'gpu-1' })
  const cause = (sinceMs: number) => hintAt(2, sinceMs, { rule: 'thermal', device: 'gpu-1', affected: ['gpu-1'] })
  assert.equal(hintGroups([effect(START_MS), cause(START_MS + 60_000)]).length, 2)
  assert.equal(hintGroups([cause(START_MS), effect(START_MS + 60_000)]).length, 1)
})

/** Comparing all pairs of so many takes minutes. */
const MANY = 20_000

test('tens of thousands of hints are grouped at once: of one device, of one rule, and all open', () => {
  const groupsOf = (hintOf: (number: number) => Hint) =>
    hintGroups(Array.from({ length: MANY }, (_, at) => hintOf(at + 1))).length
  assert.equal(
    groupsOf((number) => hintAt(number, START_MS + number * 1000)),
    1,
  )
  assert.equal(
    groupsOf((number) => hintAt(number, START_MS + number, { device: `nic-${number}` })),
    1,
  )
  const apartMs = 400_000
  assert.equal(
    groupsOf((number) => {
      const { endedMs, outcome, ...open } = hintAt(number, START_MS + number * apartMs, { device: `nic-${number}` })
      return open
    }),
    MANY,
  )
})
