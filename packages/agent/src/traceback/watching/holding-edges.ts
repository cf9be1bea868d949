import type { HostEdge } from '../../hosting/edge-gate.ts'

/** Edges of rules that hold on rings. Each host limits their number for each source. */
export class HoldingEdges {
  /** By source, then by rule and device. */
  readonly #bySource = new Map<string, Map<string, HostEdge>>()

  /** Takes an edge of a host: its rule begins to hold, or ends. */
  note(source: string, edge: HostEdge): void {
    const key = JSON.stringify([edge.rule, edge.device])
    const holding = this.#bySource.get(source) ?? new Map<string, HostEdge>()
    if (edge.isStart) holding.set(key, edge)
    else holding.delete(key)
    if (holding.size === 0) this.#bySource.delete(source)
    else this.#bySource.set(source, holding)
  }

  /** Removes and returns the edges of a source, because it is unknown whether its rules still hold. */
  lose(source: string): HostEdge[] {
    const lost = [...(this.#bySource.get(source)?.values() ?? [])]
    this.#bySource.delete(source)
    return lost
  }

  clear(): void {
    this.#bySource.clear()
  }
}
