import { wallNs } from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import { docaAdpRetxType } from '../doca-adp-retx/type.ts'
import { docaDiagPciType, docaDiagPortType, docaDiagPriorityType, docaDiagType } from '../doca-diag/type.ts'
import { docaDpaProcessType, docaDpaThreadType } from '../doca-dpa/type.ts'
import { docaPccCounterType, docaPccType } from '../doca-pcc/type.ts'
import { docaPciType } from '../doca-pci/type.ts'
import { docaPhyLaneType, docaPhyType } from '../doca-phy/type.ts'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../ethtool/type.ts'
import { hostPressureType } from '../host/type.ts'
import { netdevCarrierType, netdevType } from '../netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../nvml/type.ts'
import { pciAerType, pciDeviceType } from '../pci/type.ts'
import { rdmaHwFirstType, rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../rdma/type.ts'
import type { NodeSource, Probe, SourceContext, SourceDefinition } from '../source.ts'
import { NODE_CLASSES } from './classes/classes.ts'
import type { NodeClass } from './classes/node-class.ts'
import { type SimulatorOptions, simulatorOptions } from './config.ts'
import { NodeReport } from './report/node-report.ts'
import { ScenarioBook } from './scenarios/book.ts'
import { parseScenario } from './scenarios/flag.ts'
import type { ScenarioRequest } from './scenarios/request.ts'
import { Simulation } from './simulation.ts'
import { secondsOf } from './time.ts'

/** A simulated node: reports what the sources of real hardware report. All that is in it, {@link Simulation} says. */
export class SimulatorSource implements NodeSource {
  readonly simulation: Simulation
  /** What happens to the node; scenarios are started and ended here. */
  readonly book: ScenarioBook
  readonly #scenarios: readonly ScenarioRequest[]
  readonly #context: SourceContext
  #report: NodeReport | undefined
  #isOpened = false

  constructor({ seed, node_class, workload, scenarios }: SimulatorOptions, context: SourceContext) {
    const node = nodeOf(node_class)
    this.simulation = new Simulation({ seed, node, workload, effects: [] })
    // Profiling values are means over an interval.
    this.book = new ScenarioBook(this.simulation, Math.max(60, (2 * context.source.info.intervalMs) / 1000))
    this.#scenarios = scenarios.map(parseScenario)
    this.#context = context
  }

  /** Starts the scenarios of the configuration; nothing else is to be opened. */
  open(): void {
    if (this.#isOpened) return
    this.#isOpened = true
    const nowS = secondsOf(wallNs())
    for (const request of this.#scenarios) this.book.start(request, nowS)
  }

  probe(): Probe {
    return { state: 'present', found: `simulated ${this.simulation.node.name}` }
  }

  async sample(): Promise<void> {
    this.#report ??= new NodeReport(this.simulation, this.#context)
    const report = this.#report
    const time = wallNs()
    for (const _part of report.parts(time, secondsOf(time))) {
      if (!turn.isOver()) continue
      await turn.next()
      if (this.#report !== report) return
    }
  }

  close(): void {
    this.#report = undefined
  }
}

/** Registry row of the simulator: runs only where it is asked for. */
export const simulator: SourceDefinition = {
  name: 'simulator',
  summary: 'A simulated AI node: GPUs, NICs and links that behave like real ones',
  types: [
    nvmlGpuInfoType,
    nvmlGpuType,
    nvmlXidType,
    nvmlProfileType,
    nvmlMigType,
    rdmaPortType,
    rdmaPortCountersType,
    rdmaHwFirstType,
    rdmaHwType,
    ethtoolLinkType,
    ethtoolPortType,
    ethtoolPriorityType,
    ethtoolLaneType,
    pciDeviceType,
    pciAerType,
    netdevType,
    netdevCarrierType,
    hostPressureType,
    docaDiagType,
    docaDiagPortType,
    docaDiagPriorityType,
    docaDiagPciType,
    docaAdpRetxType,
    docaDpaProcessType,
    docaDpaThreadType,
    docaPccType,
    docaPccCounterType,
    docaPciType,
    docaPhyType,
    docaPhyLaneType,
  ],
  placement: 'inline',
  intervalMs: 1000,
  options: simulatorOptions,
  labels: { simulated: 'true' },
  isOnRequest: true,
  refuse: (options) => rehearse(options as SimulatorOptions),
  create: (options, context) => new SimulatorSource(options as SimulatorOptions, context),
}

function nodeOf(name: string): NodeClass {
  return NODE_CLASSES.find((each) => each.name === name) as NodeClass
}

/** Plays the scenarios of the start without a node: what cannot be played is told before anything runs. */
function rehearse({ seed, node_class, scenarios }: SimulatorOptions): void {
  const node = nodeOf(node_class)
  const book = new ScenarioBook({ node, seed, setEffects: () => undefined, forget: () => 0 })
  for (const request of scenarios.map(parseScenario)) book.start(request, 0)
}
