import { Combinations } from '../../rules/combinations.ts'
import type { CombinationRule, RuleBook } from '../../rules/rule.ts'
import type { MemberEdge } from '../../rules/rule-edge.ts'
import type { TestedPlace, TestedRule } from './tested-rule.ts'

/** Most starts and ends of the combined rules. */
const EDGES_MAX = 1_000_000

/** A start or an end of a rule on a series. */
export interface TestedEdge extends Pick<MemberEdge, 'rule' | 'monoNs' | 'isStart' | 'isLost'> {
  /** Identifies the series. */
  readonly key: string
  readonly place: TestedPlace
}

/**
 * Evaluates rules that combine others. Series come one after the other, and a combination needs their starts and ends
 * in the order of time. So they are kept until all records are read.
 */
export class TestedCombinations {
  readonly #book: RuleBook
  readonly #tested: ReadonlyMap<string, TestedRule>
  /** Names of the combined rules. */
  readonly #members: ReadonlySet<string>
  readonly #edges: TestedEdge[] = []
  #isOver = false

  constructor(book: RuleBook, tested: ReadonlyMap<string, TestedRule>) {
    this.#book = book
    this.#tested = tested
    this.#members = new Set(book.rules.flatMap((rule) => ('of' in rule ? this.#namesIn(rule) : [])))
  }

  /** Takes a start or an end of any rule. */
  take(edge: TestedEdge): void {
    if (!this.#members.has(edge.rule)) return
    if (this.#edges.length < EDGES_MAX) this.#edges.push(edge)
    else this.#isOver = true
  }

  /** Evaluates the combinations; what holds at the end of all records is left open. */
  end(toNs: bigint): void {
    if (this.#isOver) return
    const combinations = new Combinations(this.#book.rules)
    const places = new Map<string, TestedPlace>()
    this.#edges.sort((a, b) => compareNs(a.monoNs, b.monoNs))
    for (const edges of momentsOf(this.#edges)) {
      const members = edges.map(({ place, ...edge }): MemberEdge => ({ ...edge, device: place.device, errorNs: 0n }))
      for (const { rule, device, monoNs, isStart, isLost } of combinations.take(members)) {
        const place = places.get(rule) ?? { device, source: '', labels: {} }
        if (isStart) {
          places.set(rule, place)
          this.#tested.get(rule)?.begin(place, monoNs)
        } else {
          places.delete(rule)
          this.#tested.get(rule)?.end(place, monoNs, isLost === true ? 'interrupted' : 'over')
        }
      }
    }
    for (const [rule, place] of places) this.#tested.get(rule)?.end(place, toNs, 'open')
  }

  /**
   * Why a combination was not tested.
   * @param testedRules Names of the rules that a series was there for.
   */
  faultOf(rule: CombinationRule, testedRules: ReadonlySet<string>): string | undefined {
    if (this.#isOver) return `not tested: its rules began and ended more than ${EDGES_MAX} times`
    const names = this.#namesIn(rule)
    const untested = names.filter((name) => !testedRules.has(name))
    const isTested = rule.of === 'any' ? untested.length < names.length : untested.length === 0
    return isTested ? undefined : `not tested: nor was ${untested.join(', ')}`
  }

  #namesIn({ rules }: CombinationRule): string[] {
    return rules.flatMap((index) => this.#book.rules[index]?.name ?? [])
  }
}

/** Edges with the same time, which a combination sees at once. */
function* momentsOf(edges: readonly TestedEdge[]): Generator<TestedEdge[]> {
  let moment: TestedEdge[] = []
  for (const edge of edges) {
    if (moment[0] !== undefined && moment[0].monoNs !== edge.monoNs) {
      yield moment
      moment = []
    }
    moment.push(edge)
  }
  if (moment.length > 0) yield moment
}

/** Compares times, for a sort. */
export function compareNs(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
