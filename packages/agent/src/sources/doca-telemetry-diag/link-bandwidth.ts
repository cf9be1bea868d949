import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { PciPort } from '../../native/doca/pci.ts'
import { orMissing } from '../doca/structure-fields.ts'
import { Missing } from '../field-absences.ts'
import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { type ChosenOrigins, type Offer, type ServedReading, ServedValue } from '../origins/served-value.ts'
import { bandwidthOf, GENERATION_TRANSFERS_PER_SECOND } from '../pci/bandwidth.ts'
import { parseSpeed, parseWidth } from '../pci/parse.ts'
import type { SourceContext } from '../source.ts'
import { docaDiagPciUseType } from './type.ts'

/** Place of the only PCIe link of most devices. */
const PLACE = { depth: 0, index: 0, node: 0 }
const UNKNOWN = new Missing('unsupported', 'the kernel does not know the speed or the width of the PCIe link')
const NO_NUMBER = new Missing('unsupported', 'the firmware gives no generation of the PCIe link that is known')

/** Capacity of the PCIe link of a device at its present speed and width: from files of the kernel, or the firmware. */
export class LinkBandwidth {
  readonly #device: DocaDevice
  readonly #files: KernelFiles
  readonly #speed: KernelFile
  readonly #width: KernelFile
  readonly #served: ServedValue<number>
  /** Opened only if the kernel does not know the link. */
  #port: PciPort | DocaFailure | undefined

  constructor(device: DocaDevice, context: SourceContext, chosen: ChosenOrigins) {
    const { name } = device
    this.#device = device
    this.#files = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const fileOf = (file: string) => this.#files.file('class', 'infiniband', name, 'device', file)
    this.#speed = fileOf('current_link_speed')
    this.#width = fileOf('current_link_width')
    const offers: Offer<number>[] = [
      { origin: 'pci_files', read: () => this.#ofKernel() },
      { origin: 'doca_pci', read: () => this.#ofFirmware() },
    ]
    const metric = 'doca_pci_link_bandwidth_bytes_per_second'
    const series = { metric, type: docaDiagPciUseType, labels: { device: name } } as const
    this.#served = new ServedValue(series, offers, context.absences, chosen)
  }

  /** Returns the capacity of one direction. Unit: bytes per second. Undefined if it is unknown. */
  read(): Promise<ServedReading<number> | undefined> {
    return this.#served.read()
  }

  /** Reports its series as gone. */
  gone(reason: string): void {
    this.#served.gone(reason)
  }

  async close(): Promise<void> {
    this.#files.close()
    if (this.#port instanceof PciPort) await this.#port.close()
  }

  #ofKernel(): number | Missing {
    const speed = valueIn(this.#speed, parseSpeed)
    if (speed instanceof Missing) return speed
    const width = valueIn(this.#width, parseWidth)
    if (width instanceof Missing) return width
    // A width of 0, 63 or 255 lanes means that there is no link.
    const isKnown = speed !== 'unknown' && width > 0 && width <= 32
    return (isKnown ? bandwidthOf(speed, width) : undefined) ?? UNKNOWN
  }

  async #ofFirmware(): Promise<number | Missing> {
    if (!(this.#port instanceof PciPort)) this.#port = await PciPort.open(this.#device, PLACE)
    if (this.#port instanceof DocaFailure) return orMissing<number>(this.#port)
    const link = orMissing(await this.#port.link())
    if (link instanceof Missing) return link
    return bandwidthOf(GENERATION_TRANSFERS_PER_SECOND[(link.generation ?? 0) - 1], link.lanes) ?? NO_NUMBER
  }
}

function valueIn<T>(file: KernelFile, parse: (bytes: Uint8Array) => T | undefined): T | Missing {
  const bytes = file.read()
  if (bytes instanceof ReadFailure) return new Missing(bytes.code, bytes.words)
  return parse(bytes) ?? new Missing('failed', `${file.path} holds something else than expected`)
}
