/** Duration of the measurement. Unit: milliseconds. */
const MEASURED_MS = 10_000
/** A greater share of a core is reported as a warning. */
const WARNING_RATIO = 0.05

/** Measures the share of a core that the process of all DOCA sources uses in the first ten seconds of draining. */
export class DrainCost {
  readonly #startMs = performance.now()
  readonly #start = process.cpuUsage()
  #ratio: number | undefined

  /** The share; undefined until it is measured. */
  get ratio(): number | undefined {
    if (this.#ratio === undefined && performance.now() - this.#startMs >= MEASURED_MS) this.#measure()
    return this.#ratio
  }

  #measure(): void {
    const { user, system } = process.cpuUsage(this.#start)
    this.#ratio = (user + system) / 1000 / (performance.now() - this.#startMs)
    if (this.#ratio <= WARNING_RATIO) return
    const share = `${(this.#ratio * 100).toFixed(1)} % of a core`
    // A line on standard error becomes a warning in the log of the agent.
    process.stderr.write(
      `doca_telemetry_diag: draining takes ${share}, more than 5 %: list fewer counters, or raise sample_period_us\n`,
    )
  }
}
