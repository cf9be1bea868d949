import type { RecordOf, RecordType } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { AttributeReader, type ExplainFailure, type ParseAttribute } from '../attribute-reader.ts'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import { isRepresentor } from '../representor.ts'
import type { SourceContext } from '../source.ts'
import type { PciPlace } from './bus.ts'
import { pciDeviceType } from './type.ts'

/** Record of a device. */
export type PciRecord = RecordOf<typeof pciDeviceType>

/** A field of it. */
export type PciField = keyof PciRecord

const NO_LINK = new Missing('unsupported', 'the device is not PCI Express')
/** Why a file is not there, by the start of its name. */
const MISSING: readonly (readonly [prefix: string, lack: Missing])[] = [
  ['current_link', NO_LINK],
  ['max_link', NO_LINK],
  ['numa_node', new Missing('unsupported', 'this kernel knows no NUMA nodes')],
  ['local_cpulist', new Missing('unsupported', 'the kernel does not say which processors are near the device')],
  ['sriov_numvfs', new Missing('unsupported', 'the device has no virtual functions')],
  ['aer_rootport', new Missing('unsupported', 'only root ports count messages of devices below them')],
  [
    'aer_dev',
    new Missing('unsupported', 'the kernel keeps no AER counts of it: the device has no AER, or the firmware owns it'),
  ],
]

/** What is refused with EINVAL says nothing to people. */
const explain: ExplainFailure = ({ kind, words }, { path }) =>
  kind === 'unsupported' && path.includes('_link_')
    ? 'the kernel could not ask the device for its link; it may have left the bus'
    : words

/** The files of one device, and the last reported states of their fields. */
export class PciAttributes {
  /** Names in the folder when it was last listed; a file that is not among them is not tried. */
  names: ReadonlySet<string> = new Set()
  /** Whether a file was not there that is among the names: the device may be gone. */
  missed = false
  readonly absences: FieldAbsences
  readonly #place: PciPlace
  readonly #sysfs: KernelFiles
  readonly #reader: AttributeReader
  readonly #files = new Map<string, KernelFile>()

  /** @param type Type of the records that they are read for. Default: that of devices. */
  constructor(place: PciPlace, sysfs: KernelFiles, context: SourceContext, type: RecordType = pciDeviceType) {
    this.absences = new FieldAbsences(context.absences, type, { pci_address: place.address })
    this.#place = place
    this.#sysfs = sysfs
    this.#reader = new AttributeReader(context, this.absences, explain)
  }

  /** Closes the files, or those of these names; a later read opens them again. */
  close(names: Iterable<string> = this.#files.keys()): void {
    for (const name of names) this.#files.get(name)?.close()
  }

  /** What a file holds, or why it gives nothing. */
  value<T>(name: string, parse: ParseAttribute<T>): T | Missing {
    if (!this.names.has(name)) {
      const [, lack] = MISSING.find(([prefix]) => name.startsWith(prefix)) ?? []
      return lack ?? new Missing('unsupported', `${name} is not there`)
    }
    const file = this.#file(name)
    const bytes = file.read()
    if (bytes instanceof ReadFailure && bytes.kind === 'missing') this.missed = true
    return this.#reader.value(file, parse, bytes)
  }

  /** The number in a file, for a field. */
  number(name: string, field: PciField, limit = Number.POSITIVE_INFINITY): Integer64 | undefined {
    const found = this.value(name, (bytes) => {
      const parsed = parseNumber(bytes)
      return parsed === undefined || parsed > limit ? undefined : parsed
    })
    return this.absences.settle(field, found)
  }

  /** Whether an interface below the device is not its own, but stands for a function of it. */
  isRepresentor(netdev: string): boolean {
    return isRepresentor(netdev, this.#sysfs, this.#reader)
  }

  /** Counts a file that holds what it should not; `what` ends a sentence that starts with its path. */
  wrong(name: string, what: string): Missing {
    return this.#reader.wrong(this.#file(name), what)
  }

  #file(name: string): KernelFile {
    let file = this.#files.get(name)
    if (file === undefined) {
      file = this.#sysfs.file(...this.#place.folder, name)
      this.#files.set(name, file)
    }
    return file
  }
}
