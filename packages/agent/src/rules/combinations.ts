import { CombinationMember } from './combination-member.ts'
import type { CombinationRule, Rule } from './rule.ts'
import type { MemberEdge, RuleEdge } from './rule-edge.ts'

interface Combination {
  readonly rule: CombinationRule
  readonly members: readonly CombinationMember[]
  /** Device of its event while it is active. */
  device: string | undefined
}

/**
 * Rules that hold while other rules hold, anywhere on the node. Takes the edges of single rules in the order of their
 * arrival.
 */
export class Combinations {
  /** Starts that were ignored because their rule already holds on the highest tracked number of devices. */
  refused = 0
  readonly #combinations: readonly Combination[]
  /** By the name of the rule, so that an edge does not visit every rule. With `--compat`, rules may share a name. */
  readonly #members: ReadonlyMap<string, readonly CombinationMember[]>

  constructor(rules: readonly Rule[]) {
    const members = rules.map(({ name }) => new CombinationMember(name))
    this.#members = Map.groupBy(members, ({ rule }) => rule)
    this.#combinations = rules.flatMap((rule) => {
      if (!('of' in rule)) return []
      return [{ rule, members: rule.rules.map((index) => members[index] as CombinationMember), device: undefined }]
    })
  }

  /** Whether the file has no combinations. */
  get isEmpty(): boolean {
    return this.#combinations.length === 0
  }

  /**
   * Takes the edges of single rules at one moment. If a rule ends and another begins at that moment, an `any_of` of
   * both stays active.
   * @returns The edges of the combinations.
   */
  take(edges: readonly MemberEdge[]): RuleEdge[] {
    for (const edge of edges) for (const member of this.#members.get(edge.rule) ?? []) this.#note(member, edge)
    const last = edges.at(-1)
    return last === undefined ? [] : this.#combinations.flatMap((combination) => combinationEdges(combination, last))
  }

  #note(member: CombinationMember, edge: MemberEdge): void {
    if (!member.take(edge)) this.refused++
  }
}

function combinationEdges(combination: Combination, edge: RuleEdge): RuleEdge[] {
  const { rule, members, device: activeOn } = combination
  const { name } = rule
  if (activeOn === undefined) {
    const began = rule.of === 'all' ? allBegan(members, rule.withinNs) : anyBegan(members)
    if (began === undefined) return []
    const { device, monoNs, errorNs } = began
    combination.device = device
    return [{ rule: name, device, monoNs, errorNs, isStart: true }]
  }
  // A combination that began stays active while its rules hold. The times of their beginnings no longer matter.
  const holds = ({ latest }: CombinationMember) => latest !== undefined
  if (rule.of === 'all' ? members.every(holds) : members.some(holds)) return []
  combination.device = undefined
  const { monoNs, errorNs, isLost = false } = edge
  return [{ rule: name, device: activeOn, monoNs, errorNs, isStart: false, isLost }]
}

/**
 * The last beginning, if every rule holds and all began within the time. For a rule on several devices, its latest
 * beginning counts.
 */
function allBegan(members: readonly CombinationMember[], withinNs: number): RuleEdge | undefined {
  const nearest = members.map(({ latest }) => latest)
  if (!nearest.every((beginning) => beginning !== undefined)) return undefined
  const last = nearest.reduce((a, b) => (b.monoNs > a.monoNs ? b : a))
  const first = nearest.reduce((a, b) => (b.monoNs < a.monoNs ? b : a))
  return last.monoNs - first.monoNs <= BigInt(Math.round(withinNs)) ? last : undefined
}

function anyBegan(members: readonly CombinationMember[]): RuleEdge | undefined {
  const began = members.flatMap(({ earliest }) => earliest ?? [])
  return began.length === 0 ? undefined : began.reduce((a, b) => (b.monoNs < a.monoNs ? b : a))
}
