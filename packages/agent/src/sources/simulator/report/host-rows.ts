import { hostPressureType } from '../../host/type.ts'
import type { SourceContext } from '../../source.ts'
import { HOST_QUANTITIES } from '../model/quantities.ts'
import { HostReader } from '../observe/host-reader.ts'
import type { Simulation } from '../simulation.ts'
import type { Columns } from './column.ts'
import { ReportRows } from './report-rows.ts'

/**
 * Columns of `host_pressure` by resource. The kernel reports no full stall of processors, and there is enough memory.
 */
const HOST_PRESSURE: Readonly<
  Record<string, Columns<typeof hostPressureType, HostReader, keyof typeof HOST_QUANTITIES>>
> = {
  cpu: { waiting_seconds_total: 'cpuWaitingS', stalled_seconds_total: 0 },
  io: { waiting_seconds_total: 'ioWaitingS', stalled_seconds_total: 'ioStalledS' },
  memory: { waiting_seconds_total: 0, stalled_seconds_total: 0 },
}

/** Records of the host: how long its tasks wait. */
export class HostRows {
  readonly #reader: HostReader
  readonly #tables: readonly ReportRows<HostReader>[]

  constructor(simulation: Simulation, context: SourceContext) {
    this.#reader = new HostReader(simulation)
    this.#tables = Object.entries(HOST_PRESSURE).map(([resource, columns]) => {
      return new ReportRows(context, hostPressureType, columns, [{ labels: { resource } }], HOST_QUANTITIES)
    })
  }

  /** Reads the host and reports it. */
  sample(time: bigint, t: number): void {
    this.#reader.read(t)
    for (const rows of this.#tables) {
      rows.write(0, this.#reader, this.#reader.numbers)
      rows.report(time)
    }
  }
}
