import type { RecordOf } from '@sonde/sdk'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { Attributes } from './attributes.ts'
import { parseInterface, parseLine, parseUevent } from './parse.ts'
import type { rdmaPortType } from './type.ts'

const LINE_FIELDS = ['firmware', 'model', 'board', 'node_guid', 'link_layer'] as const
/** GIDs that are asked for their interface: each interface has one of the first, and a look past the last is an error, which is slow. */
const GID_LIMIT = 16

/** What a port is, as far as that stays while its device does: firmware, model, place and interfaces. */
export class PortIdentity {
  readonly #number: number
  readonly #sysfs: KernelFiles
  readonly #attributes: Attributes
  readonly #record: RecordOf<typeof rdmaPortType>
  readonly #device: readonly string[]
  readonly #port: readonly string[]
  readonly #lines: Readonly<Record<(typeof LINE_FIELDS)[number], KernelFile>>
  readonly #uevent: KernelFile

  constructor(sysfs: KernelFiles, attributes: Attributes, record: RecordOf<typeof rdmaPortType>) {
    const device = ['class', 'infiniband', record.device]
    const port = [...device, 'ports', String(record.port)]
    this.#number = record.port
    this.#sysfs = sysfs
    this.#attributes = attributes
    this.#record = record
    this.#device = device
    this.#port = port
    this.#lines = {
      firmware: sysfs.file(...device, 'fw_ver'),
      model: sysfs.file(...device, 'hca_type'),
      board: sysfs.file(...device, 'board_id'),
      node_guid: sysfs.file(...device, 'node_guid'),
      link_layer: sysfs.file(...port, 'link_layer'),
    }
    this.#uevent = sysfs.file(...device, 'device', 'uevent')
  }

  /** Reads all of it into the record, from files opened anew. Whether the device is the one that had the name before. */
  scan(): boolean {
    const { node_guid: guid, address } = this.#record
    for (const field of LINE_FIELDS) this.#record[field] = this.#line(field, this.#lines[field])
    this.#readUevent()
    this.#readNetdevs()
    this.close()
    return this.#record.node_guid === guid && this.#record.address === address
  }

  close(): void {
    for (const file of Object.values(this.#lines)) file.close()
    this.#uevent.close()
  }

  #line(field: string, file: KernelFile): string | undefined {
    const line = this.#attributes.read(field, file, parseLine)
    if (line !== '') return line
    this.#attributes.absences.absent(field, 'unsupported', `${file.path} is empty: the driver does not say`)
    return undefined
  }

  #readUevent(): void {
    const place = this.#attributes.read('driver', this.#uevent, parseUevent)
    for (const field of ['driver', 'address'] as const) {
      this.#record[field] = place?.[field]
      if (place?.[field] !== undefined) this.#attributes.absences.present(field)
      else if (place !== undefined || field === 'address') {
        const reason = `${this.#uevent.path} does not say: the device is none of PCI, or has no ${field}`
        this.#attributes.absences.absent(field, 'unsupported', reason)
      }
    }
  }

  /** RoCE has its interfaces in the table of GIDs. InfiniBand has those of IPoIB below the device, which its ports share. */
  #readNetdevs(): void {
    const names = this.#gidNetdevs()
    if (names.size === 0) for (const name of this.#deviceNetdevs()) names.add(name)
    this.#record.netdevs = names.size === 0 ? undefined : [...names].join(' ')
    if (names.size > 0) this.#attributes.absences.present('netdevs')
    else this.#attributes.absences.absent('netdevs', 'unsupported', 'no network interface belongs to the port')
  }

  #gidNetdevs(): Set<string> {
    const names = new Set<string>()
    for (let index = 0; index < GID_LIMIT; index++) {
      const name = this.#readOnce([...this.#port, 'gid_attrs', 'ndevs', String(index)], parseInterface)
      if (name === 'absent') break
      if (name !== undefined) names.add(name)
    }
    return names
  }

  #deviceNetdevs(): string[] {
    const folder = [...this.#device, 'device', 'net']
    const listed = this.#sysfs.list(...folder)
    if (listed instanceof ReadFailure) return []
    const port = String(this.#number - 1)
    return listed.sort().filter((name) => this.#readOnce([...folder, name, 'dev_port'], parseLine) === port)
  }

  /** What a file holds that is not kept open. */
  #readOnce<T>(path: readonly string[], parse: (bytes: Uint8Array) => T | undefined): T | 'absent' | undefined {
    const file = this.#sysfs.file(...path)
    const bytes = file.read()
    file.close()
    if (bytes instanceof ReadFailure) {
      this.#attributes.count(bytes, file.path)
      return 'absent'
    }
    const value = parse(bytes)
    if (value === undefined) this.#attributes.wrong(file.path)
    return value
  }
}
