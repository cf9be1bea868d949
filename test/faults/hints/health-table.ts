/** Hours without a fault that one class of node passed in one workload, and the hints that opened meanwhile. */
interface Health {
  readonly nodeClass: string
  readonly workload: string
  seconds: number
  readonly opened: string[]
}

/** Healthy hours and false hints, by class of node and workload. */
export class HealthTable {
  readonly #rows = new Map<string, Health>()

  /** Adds the seconds that one node was healthy for, and the hints that it showed all the same. */
  add(nodeClass: string, workload: string, seconds: number, opened: readonly string[]): void {
    const key = `${nodeClass} ${workload}`
    const row = this.#rows.get(key) ?? { nodeClass, workload, seconds: 0, opened: [] }
    row.seconds += seconds
    row.opened.push(...opened)
    this.#rows.set(key, row)
  }

  /** Fewest hours that any class has passed in any workload. */
  get hoursLeast(): number {
    return Math.min(...[...this.#rows.values()].map(({ seconds }) => seconds / 3600))
  }

  /** A row a class and workload, as a table in Markdown. */
  markdown(): string {
    const rows = [...this.#rows.values()]
      .map(({ nodeClass, workload, seconds, opened }) => {
        return `| ${nodeClass} | ${workload} | ${(seconds / 3600).toFixed(1)} h | ${opened.join(', ') || '0'} |`
      })
      .sort()
    return ['| Class | Workload | Healthy for | False hints |', '|---|---|---:|---|', ...rows].join('\n')
  }
}
