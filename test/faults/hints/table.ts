import type { Finding, RoundFindings } from './round.ts'

const OUTCOMES = ['told', 'late', 'wrong device', 'missed', 'below'] as const

/** What rounds found, counted. */
export class HintTable {
  readonly #rows = new Map<string, Finding[]>()
  readonly #strange: string[] = []
  rounds = 0

  add({ seed, faults, strange }: RoundFindings): void {
    this.rounds++
    for (const fault of faults) {
      const row = this.#rows.get(fault.scenario)
      if (row === undefined) this.#rows.set(fault.scenario, [fault])
      else row.push(fault)
    }
    for (const id of strange) this.#strange.push(`${faults.map(wordsOf).join(' with ')}, seed ${seed}: ${id}`)
  }

  /** Share of the faults above all limits that were told in time. */
  get toldShare(): number {
    const above = this.#all.filter(({ outcome }) => outcome !== 'below')
    return above.length === 0 ? 1 : above.filter(({ outcome }) => outcome === 'told').length / above.length
  }

  get wrongDevices(): readonly string[] {
    return this.#all.filter(({ outcome }) => outcome === 'wrong device').map(wordsOf)
  }

  get strange(): readonly string[] {
    return this.#strange
  }

  /** Faults that should have been told and were not, or late. */
  get missed(): readonly string[] {
    return this.#all.filter(({ outcome }) => outcome === 'missed' || outcome === 'late').map(wordsOf)
  }

  /** A row a scenario, as a table in Markdown. */
  markdown(): string {
    const head = ['| Scenario | Set | Told | Late | Wrong device | Missed | Below a limit | Median, worst delay |']
    const rows = [...this.#rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([scenario, findings]) => {
        const counts = OUTCOMES.map((outcome) => findings.filter((finding) => finding.outcome === outcome).length)
        return `| ${scenario} | ${findings.length} | ${counts.join(' | ')} | ${delaysOf(findings)} |`
      })
    return [...head, '|---|---:|---:|---:|---:|---:|---:|---:|', ...rows].join('\n')
  }

  get #all(): Finding[] {
    return [...this.#rows.values()].flat()
  }
}

function wordsOf({ scenario, nodeClass, workload, device, severity, outcome, delayS }: Finding): string {
  const after = Number.isNaN(delayS) ? '' : ` after ${delayS.toFixed(1)} s`
  return `${scenario} ${severity.toPrecision(3)} on ${device} of ${nodeClass}, ${workload}: ${outcome}${after}`
}

function delaysOf(findings: readonly Finding[]): string {
  const delays = findings.filter(({ outcome }) => outcome === 'told').map(({ delayS }) => delayS)
  if (delays.length === 0) return '–'
  const sorted = delays.sort((a, b) => a - b)
  const median = sorted[sorted.length >> 1] as number
  return `${Math.max(0, median).toFixed(1)} s, ${Math.max(0, sorted.at(-1) as number).toFixed(1)} s`
}
