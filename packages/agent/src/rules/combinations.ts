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

/** Rules that hold while others do, wherever on the node. Takes the edges of single rules, in the order in which they come. */
export class Combinations {
  readonly #combinations: readonly Combination[]

  constructor(rules: readonly Rule[]) {
    const members = rules.map(({ name }): Member => ({ rule: name, active: new Map() }))
    this.#combinations = rules.flatMap((rule) => {
      if (!('of' in rule)) return []
      return [{ rule, members: rule.rules.map((index) => members[index] as Member), device: undefined }]
    })
  }

  /** Takes the edge of a single rule; the edges of combinations that it makes. */
  take(edge: RuleEdge): RuleEdge[] {
    const touched = this.#combinations.filter(({ members }) => members.some(({ rule }) => rule === edge.rule))
    const members = new Set(touched.flatMap(({ members }) => members.filter(({ rule }) => rule === edge.rule)))
    for (const { active } of members) {
      if (!edge.isStart) active.delete(edge.device)
      else if (active.size < DEVICES_MAX) active.set(edge.device, edge)
    }
    return touched.flatMap((combination) => changeOf(combination, edge))
  }
}

function changeOf(combination: Combination, edge: RuleEdge): RuleEdge[] {
  const { rule, members } = combination
  const began = rule.of === 'all' ? allBegan(members, rule.withinNs) : anyBegan(members)
  const isActive = combination.device !== undefined
  if (began !== undefined && !isActive) {
    combination.device = began.device
    const { device, monoNs, errorNs } = began
    return [{ rule: rule.name, device, monoNs, errorNs, isStart: true }]
  }
  if (began !== undefined || combination.device === undefined) return []
  const { device } = combination
  combination.device = undefined
  return [{ rule: rule.name, device, monoNs: edge.monoNs, errorNs: edge.errorNs, isStart: false }]
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
