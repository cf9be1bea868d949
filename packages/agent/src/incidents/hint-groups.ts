import type { Hint } from '@sonde/sdk/api'
import { RULES } from '../hints/hints.ts'
import { causeKeys, earlierKeys } from './cause-keys.ts'

const ORDER: ReadonlyMap<string, number> = new Map(RULES.map(({ name }, at) => [name, at]))

/**
 * Groups hints by their cause: the cause of each group comes first. Every hint is in one group, whatever the order of
 * the input. Hints are taken by their starts, and each finds earlier hints of its cause by their keys, so the time
 * grows with the number of hints and not with its square.
 */
export function hintGroups(hints: readonly Hint[]): Hint[][] {
  const byStart = hints.toSorted((a, b) => a.sinceMs - b.sinceMs || compareEvents(a, b))
  const groups = new OpenGroups(byStart.length)
  for (const [at, hint] of byStart.entries()) {
    for (const key of earlierKeys(hint)) groups.join(key, at, hint.sinceMs)
    for (const { key, untilMs } of causeKeys(hint)) groups.add(key, { at, untilMs }, hint.sinceMs)
  }
  const found = Map.groupBy(byStart.keys(), (at) => groups.of(at))
  return [...found.values()].map((group) => group.map((at) => byStart[at] as Hint).sort(byCause))
}

/** A hint of a group that later hints may still join. */
interface OpenMember {
  readonly at: number
  /** Unit: milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/** Groups of hints, and the keys by which later hints find them. Hints come by their starts. */
class OpenGroups {
  /** For each hint an earlier or equal hint of its group; the first of a group has itself. */
  readonly #first: Int32Array
  /** One member of each group for each key: the last that can be joined. */
  readonly #members = new Map<string, OpenMember[]>()

  constructor(count: number) {
    this.#first = Int32Array.from({ length: count }, (_, at) => at)
  }

  /** The first hint of the group of a hint. */
  of(at: number): number {
    let first = at
    while (this.#first[first] !== first) {
      const next = this.#first[first] as number
      this.#first[first] = this.#first[next] as number
      first = next
    }
    return first
  }

  /** Joins the group of a hint with the groups that have a key at its start. */
  join(key: string, at: number, startMs: number): void {
    for (const { at: other, untilMs } of this.#members.get(key) ?? []) {
      if (untilMs < startMs) continue
      const [one, two] = [this.of(other), this.of(at)]
      this.#first[Math.max(one, two)] = Math.min(one, two)
    }
  }

  add(key: string, member: OpenMember, startMs: number): void {
    const kept = (this.#members.get(key) ?? []).filter(({ untilMs }) => untilMs >= startMs)
    const isOwn = ({ at }: OpenMember) => this.of(at) === this.of(member.at)
    const untilMs = Math.max(member.untilMs, ...kept.filter(isOwn).map((own) => own.untilMs))
    this.#members.set(key, [...kept.filter((one) => !isOwn(one)), { at: member.at, untilMs }])
  }
}

/** The number of a group is the number of its first hint. */
export function groupNumber(group: readonly Hint[]): string {
  return group.reduce((first, hint) => (compareEvents(hint, first) < 0 ? hint : first)).event
}

/**
 * The cause comes first: a confirmed hint before a dismissed hint, a fault before a notice, and a rule that explains
 * others before those.
 */
function byCause(a: Hint, b: Hint): number {
  return (
    Number(a.outcome === 'dismissed') - Number(b.outcome === 'dismissed') ||
    Number(a.severity === 'notice') - Number(b.severity === 'notice') ||
    orderOf(a) - orderOf(b) ||
    a.sinceMs - b.sinceMs ||
    compareEvents(a, b)
  )
}

/** A rule of another version of Sonde explains nothing. */
function orderOf({ rule }: Hint): number {
  return ORDER.get(rule) ?? ORDER.size
}

function compareEvents(a: Pick<Hint, 'event'>, b: Pick<Hint, 'event'>): number {
  return a.event.length - b.event.length || (a.event < b.event ? -1 : Number(a.event > b.event))
}
