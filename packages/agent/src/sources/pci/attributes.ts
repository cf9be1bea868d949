import { type AbsenceCode, type Integer64, type RecordOf, SondeError } from '@sonde/sdk'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import type { PciPlace } from './bus.ts'
import { pciDeviceType } from './type.ts'

/** Record of a device. */
export type PciRecord = RecordOf<typeof pciDeviceType>

/** A field of it. */
export type PciField = keyof PciRecord

/** Why a field has no value. */
export interface Lack {
  readonly code: AbsenceCode
  readonly reason: string
}

/** Why a file is not there, by the start of its name. */
const MISSING: readonly (readonly [prefix: string, reason: string])[] = [
  ['current_link', 'the device is not PCI Express'],
  ['max_link', 'the device is not PCI Express'],
  ['numa_node', 'this kernel knows no NUMA nodes'],
  ['sriov_numvfs', 'the device has no virtual functions'],
  ['aer_rootport', 'only root ports count what comes from below'],
  ['aer_dev', 'the kernel keeps no AER counts of it: the device has no AER, or the firmware owns it'],
]
/** What is refused with EINVAL, which says nothing to people. */
const REFUSED_LINK = 'the kernel could not ask the device for its link; it may have left the bus'

/** The files of one device, and what was last said of the fields that are made of them. */
export class PciAttributes {
  /** Names in the folder when it was last listed; a file that is not among them is not tried. */
  names: ReadonlySet<string> = new Set()
  /** Whether a file was not there that is among the names: the device may be gone. */
  missed = false
  readonly #place: PciPlace
  readonly #sysfs: KernelFiles
  readonly #context: SourceContext
  readonly #absences: FieldAbsences
  readonly #files = new Map<string, KernelFile>()

  constructor(place: PciPlace, sysfs: KernelFiles, context: SourceContext) {
    this.#place = place
    this.#sysfs = sysfs
    this.#context = context
    this.#absences = new FieldAbsences(context.absences, pciDeviceType, { device: place.address })
  }

  file(name: string): KernelFile {
    let file = this.#files.get(name)
    if (file === undefined) {
      file = this.#sysfs.file(...this.#place.folder, name)
      this.#files.set(name, file)
    }
    return file
  }

  /** Closes the files, or those of these names; a later read opens them again. */
  close(names: Iterable<string> = this.#files.keys()): void {
    for (const name of names) this.#files.get(name)?.close()
  }

  /** What a file holds; where it gives nothing, the absence of the field says why. */
  read<T>(name: string, field: PciField, parse: (bytes: Uint8Array) => T | undefined): T | undefined {
    if (this.isMissing(name, field)) return undefined
    const file = this.file(name)
    const bytes = file.read()
    if (bytes instanceof ReadFailure) {
      this.refused(name, field, bytes)
      return undefined
    }
    const value = parse(bytes)
    if (value === undefined)
      this.wrong(name, field, new SondeError('SRC_READ', `${file.path} holds nothing of the kind`))
    return value
  }

  /** A file that holds one number. */
  number(name: string, field: PciField, limit = Number.POSITIVE_INFINITY): Integer64 | undefined {
    const value = this.read(name, field, (bytes) => {
      const parsed = parseNumber(bytes)
      return parsed === undefined || parsed > limit ? undefined : parsed
    })
    if (value !== undefined) this.#absences.present(field)
    return value
  }

  /** The value, told to be there; or why it is not. `undefined`: that was told when the file was read. */
  settle<T extends Integer64 | string>(field: PciField, found: T | Lack | undefined): T | undefined {
    if (found === undefined) return undefined
    if (typeof found === 'object') {
      this.#absences.absent(field, found.code, found.reason)
      return undefined
    }
    this.#absences.present(field)
    return found
  }

  /** Whether a file is not there, which is told of its field. */
  isMissing(name: string, field: PciField): boolean {
    if (this.names.has(name)) return false
    const reason = MISSING.find(([prefix]) => name.startsWith(prefix))?.[1] ?? `${name} is not there`
    this.#absences.absent(field, 'unsupported', reason)
    return true
  }

  /** A file that is there could not be read. */
  refused(name: string, field: PciField, { kind, error }: ReadFailure): void {
    if (kind === 'missing') this.missed = true
    if (kind === 'failed') this.failed(name, error)
    const reason = kind === 'unsupported' && name.includes('_link_') ? REFUSED_LINK : error.message
    this.#absences.absent(field, kind === 'missing' ? 'unsupported' : kind, reason)
  }

  /** A file was read and holds something else. */
  wrong(name: string, field: PciField, error: SondeError): void {
    this.failed(name, error)
    this.#absences.absent(field, 'failed', error.message)
  }

  failed(what: string, error: Error): void {
    this.#context.failed(`${this.#place.address} ${what}`, error)
  }
}
