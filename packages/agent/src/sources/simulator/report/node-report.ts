import type { SourceContext } from '../../source.ts'
import type { Simulation } from '../simulation.ts'
import { type AerCounter, AerRows } from './aer-rows.ts'
import { BridgeRows } from './bridge-rows.ts'
import { GpuRows } from './gpu-rows.ts'
import { HostRows } from './host-rows.ts'
import { NicRows } from './nic-rows.ts'
import { PodRows } from './pod-rows.ts'
import { sayValuePeriods } from './value-periods.ts'

/** Reports all devices of a simulated node and its host in each sample. */
export class NodeReport {
  readonly #gpus: GpuRows
  readonly #nics: NicRows
  readonly #bridges: BridgeRows
  readonly #aer: AerRows
  readonly #host: HostRows
  readonly #pods: PodRows
  readonly #intervalS: number

  constructor(simulation: Simulation, context: SourceContext) {
    this.#gpus = new GpuRows(simulation, context)
    this.#nics = new NicRows(simulation, context)
    this.#bridges = new BridgeRows(simulation, context, this.#gpus, this.#nics)
    this.#aer = new AerRows(simulation, context, this.#errorCounters(simulation))
    this.#host = new HostRows(simulation, context)
    this.#pods = new PodRows(simulation, context)
    this.#intervalS = (context.intervalMs || 1000) / 1000
    sayValuePeriods(context.source, this.#intervalS * 1e6)
  }

  /**
   * Reports one sample. `time` is the time in the records, in nanoseconds since the Unix epoch; `t` is the same time in
   * seconds of the simulation.
   */
  sample(time: bigint, t: number): void {
    const parts = this.parts(time, t)
    while (parts.next().done !== true);
  }

  /**
   * Like {@link sample}, in parts of one or two milliseconds, even the first time. The sample is complete when all
   * parts are done.
   */
  *parts(time: bigint, t: number): Generator<void, void> {
    yield* this.#gpus.sample(time, t, this.#intervalS)
    yield* this.#nics.sample(time, t)
    yield
    this.#bridges.sample(time)
    yield
    this.#aer.sample(time)
    this.#host.sample(time, t)
    this.#pods.sample(time)
  }

  /** All counters of PCIe errors: GPUs, NICs, and the ports above them. */
  #errorCounters({ node }: Simulation): AerCounter[] {
    const { bridges, readers } = this.#bridges
    const ports = bridges.map(({ address, endsAtDevice }, index) => ({ address, endsAtDevice, reader: readers[index] }))
    const devices = [
      ...node.gpus.map(({ address }, index) => ({ address, reader: this.#gpus.readers[index]?.pci })),
      ...node.nics.map(({ address }, index) => ({ address, reader: this.#nics.readers[index]?.pci })),
      ...ports.filter(({ endsAtDevice }) => endsAtDevice),
    ]
    return devices.map(({ address, reader }) => ({ address, aerOf: (name) => reader?.aerOf(name) ?? 0 }))
  }
}
