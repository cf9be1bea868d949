import type { NicPlace } from '../classes/node-class.ts'
import { deviceKey } from '../model/hash.ts'
import { NIC_COUNT, NIC_QUANTITIES } from '../model/quantities.ts'
import { nicNumbers } from '../model/values.ts'
import type { Simulation } from '../simulation.ts'
import { NicReading } from './nic-reading.ts'
import { ORIGINS, observedAt, rounded } from './origin.ts'
import { PciReader } from './pci-reader.ts'
import { Window } from './window.ts'

/** Reads one NIC: its counters through each of their origins, and its PCIe link. */
export class NicReader {
  /** Readings for counters of interfaces, for hardware counters of RDMA, and for all others. */
  readonly netdev: NicReading
  readonly hardware: NicReading
  readonly live: NicReading
  readonly pci: PciReader
  readonly #stalls: Window

  constructor(simulation: Simulation, nic: NicPlace) {
    const { seed } = simulation
    this.netdev = new NicReading(simulation, nic, ORIGINS.netdev)
    this.hardware = new NicReading(simulation, nic, ORIGINS.hardwareCounters)
    this.live = new NicReading(simulation, nic, ORIGINS.live)
    this.pci = new PciReader(simulation, nic, deviceKey('nic', nic.index), 'receiving')
    this.#stalls = new Window(simulation, NIC_COUNT, (out, place) => nicNumbers(out, seed, nic, place))
  }

  /** Reads each origin at `t`. */
  read(t: number): void {
    this.netdev.read(t)
    this.hardware.read(t)
    this.live.read(t)
    this.#stalls.look(observedAt(ORIGINS.stalls, t), ORIGINS.stalls.windowS)
    const { segment, place } = this.live
    this.pci.readLink(segment.effect)
    this.pci.readErrors(segment.aer, place, 2)
  }

  /** Share of the last full second in which writes to the host were stalled. */
  get stallRatio(): number {
    return Math.min(1, rounded(ORIGINS.stalls, this.#stalls.mean(NIC_QUANTITIES.stallS)))
  }

  /** Mean of the sum of some numbers in the last full second, per second. */
  lastSecond(numbers: readonly number[]): number {
    return numbers.reduce((sum, number) => sum + this.#stalls.mean(number), 0)
  }

  /** Rare retrainings of the PCIe link because of errors. */
  get recoveries(): number {
    return Math.floor((this.pci.errors.correctable + this.pci.errors.nonfatal) / 50)
  }
}
