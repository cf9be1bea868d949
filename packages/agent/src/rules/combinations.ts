import type { CombinationRule, Rule } from './rule.ts'

/** The start or the end of a rule on a device. */
export interface RuleEdge {
  readonly rule: string
  readonly device: string
  /** Unit: nanoseconds of the host's monotonic clock. */
  readonly monoNs: bigint
  readonly errorNs: bigint
  readonly isStart: boolean
}

interface Beginning {
  readonly device: string
  readonly monoNs: bigint
  readonly errorNs: bigint
}

/** A rule that is part of a combination, and where it holds. */
interface Member {
  readonly rule: string
  /** By device. */
  readonly active: Map<string, Beginning>
}

interface Combination {
  readonly rule: CombinationRule
  readonly members: readonly Member[]
  /** Device of its event while it holds. */
  device: string | undefined
}

/** Devices on which one rule of a combination may hold at a time; further ones are not looked at. */
const DEVICES_MAX = 1024

/**
 * Rules that hold while others do, wherever on the node. Takes the edges of single rules, in the order in which they
 * come.
 */
export class Combinations {
  readonly #combinations: readonly Combination[]
  readonly #members: readonly Member[]

  constructor(rules: readonly Rule[]) {
    this.#members = rules.map(({ name }): Member => ({ rule: name, active: new Map() }))
    this.#combinations = rules.flatMap((rule) => {
      if (!('of' in rule)) return []
      return [{ rule, members: rule.rules.map((index) => this.#members[index] as Member), device: undefined }]
    })
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#combinations.length === 0
  }

  /**
   * Takes the edges of single rules at one moment. A rule that ends and another that begins in it leave an `any_of` of
   * both as it is.
   *
   * @returns The edges of combinations that they make.
   */
  take(edges: readonly RuleEdge[]): RuleEdge[] {
    for (const edge of edges) this.#note(edge)
    const last = edges.at(-1)
    return last === undefined ? [] : this.#combinations.flatMap((combination) => changeOf(combination, last))
  }

  #note(edge: RuleEdge): void {
    for (const { rule, active } of this.#members) {
      if (rule !== edge.rule) continue
      if (!edge.isStart) active.delete(edge.device)
      else if (active.size < DEVICES_MAX) active.set(edge.device, edge)
    }
  }
}

function changeOf(combination: Combination, edge: RuleEdge): RuleEdge[] {
  const { rule, members, device: activeOn } = combination
  const { name } = rule
  if (activeOn === undefined) {
    const began = rule.of === 'all' ? allBegan(members, rule.withinNs) : anyBegan(members)
    if (began === undefined) return []
    const { device, monoNs, errorNs } = began
    combination.device = device
    return [{ rule: name, device, monoNs, errorNs, isStart: true }]
  }
  // Beginnings do not move: a combination that began goes on for as long as its rules.
  const holds = ({ active }: Member) => active.size > 0
  if (rule.of === 'all' ? members.every(holds) : members.some(holds)) return []
  combination.device = undefined
  return [{ rule: name, device: activeOn, monoNs: edge.monoNs, errorNs: edge.errorNs, isStart: false }]
}

/** The last beginning, where every rule holds and began within the time; of several devices that which fits best. */
function allBegan(members: readonly Member[], withinNs: number): Beginning | undefined {
  if (members.some(({ active }) => active.size === 0)) return undefined
  const latest = [...members].flatMap(({ active }) => [...active.values()]).reduce(later)
  const nearest = members.map(({ active }) => [...active.values()].reduce(later))
  const first = nearest.reduce(earlier)
  return latest.monoNs - first.monoNs <= BigInt(Math.round(withinNs)) ? latest : undefined
}

function anyBegan(members: readonly Member[]): Beginning | undefined {
  const began = members.flatMap(({ active }) => [...active.values()])
  return began.length === 0 ? undefined : began.reduce(earlier)
}

function later(a: Beginning, b: Beginning): Beginning {
  return b.monoNs > a.monoNs ? b : a
}

function earlier(a: Beginning, b: Beginning): Beginning {
  return b.monoNs < a.monoNs ? b : a
}
