import type { Finding, RoundFindings } from './round.ts'

const OUTCOMES = ['told', 'late', 'wrong device', 'missed', 'below', 'hidden'] as const

/** What rounds found, counted: of faults that came alone, and of pairs. */
export class HintTable {
  readonly singles = new Counts()
  readonly pairs = new Counts()
  readonly #strange: string[] = []
  readonly #wrongDevices: string[] = []

  add({ seed, faults, strange }: RoundFindings): void {
    const counts = faults.length === 1 ? this.singles : this.pairs
    const words = `${faults.map(wordsOf).join(' with ')}, seed ${seed}`
    for (const fault of faults) counts.add(fault, words)
    for (const id of strange) this.#strange.push(`${words}: ${id}`)
    if (faults.some(({ outcome }) => outcome === 'wrong device')) this.#wrongDevices.push(words)
  }

  /** Rounds in which a hint was told of a device that nothing had struck. */
  get wrongDevices(): readonly string[] {
    return this.#wrongDevices
  }

  /** Hints that no fault explains. */
  get strange(): readonly string[] {
    return this.#strange
  }

  /** Two tables in Markdown. */
  markdown(): string {
    return [
      ...['One fault at a time:', '', this.singles.markdown(), ''],
      ...[
        'Two at a time, each counted by itself. docs/hints.md tells which hide one another:',
        '',
        this.pairs.markdown(),
      ],
    ].join('\n')
  }
}

/** Faults of one kind of round, by scenario. */
export class Counts {
  readonly #rows = new Map<string, Finding[]>()
  readonly #missed: string[] = []
  readonly #reopened: string[] = []

  /** Adds a fault; `words` tell the round it was in. */
  add(fault: Finding, words: string): void {
    this.#rows.set(fault.scenario, [...(this.#rows.get(fault.scenario) ?? []), fault])
    if (fault.outcome === 'missed' || fault.outcome === 'late') this.#missed.push(`${fault.scenario} of ${words}`)
    if (fault.outcome === 'told' && fault.reopened > 0) this.#reopened.push(`${fault.scenario} of ${words}`)
  }

  /** Faults that had to be told. */
  get heldCount(): number {
    return this.#all.filter(isHeld).length
  }

  /** Share of the faults whose hint came in time. */
  get toldShare(): number {
    const held = this.#all.filter(isHeld)
    return held.length === 0 ? 1 : held.filter(({ outcome }) => outcome === 'told').length / held.length
  }

  /** Faults that should have been told and were not, or late. */
  get missed(): readonly string[] {
    return this.#missed
  }

  /** Faults one of whose hints opened again while they lasted. */
  get reopened(): readonly string[] {
    return this.#reopened
  }

  /** A row a scenario. */
  markdown(): string {
    const names = 'Told | Late | Wrong device | Missed | Below a limit | Hidden | Opened again'
    const head = [`| Scenario | Set | ${names} | Median, worst delay |`]
    const rows = [...this.#rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([scenario, findings]) => {
        const counts = OUTCOMES.map((outcome) => findings.filter((finding) => finding.outcome === outcome).length)
        const again = findings.filter(({ outcome, reopened }) => outcome === 'told' && reopened > 0).length
        return `| ${scenario} | ${findings.length} | ${counts.join(' | ')} | ${again} | ${delaysOf(findings)} |`
      })
    return [...head, '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|', ...rows].join('\n')
  }

  get #all(): Finding[] {
    return [...this.#rows.values()].flat()
  }
}

function isHeld({ outcome }: Finding): boolean {
  return outcome !== 'below' && outcome !== 'hidden'
}

function wordsOf({ scenario, nodeClass, workload, device, severity, outcome, delayS, reopened }: Finding): string {
  const after = Number.isNaN(delayS) ? '' : ` after ${delayS.toFixed(1)} s`
  const again = reopened === 0 ? '' : `, opened again ${reopened} times`
  return `${scenario} ${severity.toPrecision(3)} on ${device} of ${nodeClass}, ${workload}: ${outcome}${after}${again}`
}

function delaysOf(findings: readonly Finding[]): string {
  const delays = findings.filter(({ outcome }) => outcome === 'told').map(({ delayS }) => delayS)
  if (delays.length === 0) return '–'
  const sorted = delays.sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] as number
  return `${Math.max(0, median).toFixed(1)} s, ${Math.max(0, sorted.at(-1) as number).toFixed(1)} s`
}
