import { emptyRecord } from '../empty-record.ts'
import { Missing } from '../field-absences.ts'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { narrow, parseNumber } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { PciAttributes, type PciRecord } from './attributes.ts'
import { idOf, nameBehind, type PciGlance } from './glance.ts'
import { lackLink, readLink } from './link.ts'
import { modelName, vendorName } from './names.ts'
import { parseFirstProcessor, parseHexadecimal, parseNumaNode } from './parse.ts'
import { type PciErrorRow, PciState } from './state.ts'
import { pciAerType, pciDeviceType } from './type.ts'

/** Files that are read when a device is examined, and not kept open. */
const RARE_FILES = [
  'subsystem_vendor',
  'subsystem_device',
  'numa_node',
  'local_cpulist',
  'sriov_numvfs',
  'max_link_speed',
  'max_link_width',
]
const U16_LIMIT = 0xffff
const NO_SOCKET = new Missing('unsupported', 'the kernel does not say which socket its processors are in')
const VIRTIO = /^virtio\d+$/

/** One device that is read: what rarely changes as last examined, its link and its errors as last refreshed. */
export class PciDevice {
  readonly address: string
  readonly #context: SourceContext
  readonly #sysfs: KernelFiles
  readonly #attributes: PciAttributes
  readonly #record: PciRecord
  readonly #state: PciState
  #glance: PciGlance
  #rows: readonly PciErrorRow[] = []
  /** Whether something was read and not reported. */
  #hasNews = false

  constructor(glance: PciGlance, sysfs: KernelFiles, context: SourceContext) {
    this.address = glance.place.address
    this.#glance = glance
    this.#sysfs = sysfs
    this.#context = context
    this.#attributes = new PciAttributes(glance.place, sysfs, context)
    this.#record = { ...emptyRecord(pciDeviceType), pci_address: this.address }
    this.#state = new PciState(this.#record)
  }

  /** Whether this is its folder still. */
  isAt(folder: readonly string[]): boolean {
    return folder.join('/') === this.#glance.place.folder.join('/')
  }

  /** Whether only other devices are behind it. */
  get isBridge(): boolean {
    return this.#glance.class === 'bridge'
  }

  /** Whether it was ever examined. */
  get isExamined(): boolean {
    return this.#attributes.names.size > 0
  }

  /** Whether a file has left: the device may be gone. */
  get missed(): boolean {
    return this.#attributes.missed
  }

  /** Reads what rarely changes. */
  examine(glance: PciGlance): void {
    const { place, vendorId, productId } = glance
    this.#glance = glance
    const attributes = this.#attributes
    attributes.names = glance.names
    attributes.missed = false
    const record = this.#record
    record.class = glance.class
    record.class_code = `0x${glance.classCode.toString(16).padStart(6, '0')}`
    record.vendor = vendorName(vendorId)
    record.model = modelName(vendorId, productId)
    record.vendor_id = vendorId
    record.product_id = productId
    record.subsystem_id = attributes.absences.settle('subsystem_id', this.#subsystem())
    record.driver = nameBehind('driver', glance, this.#sysfs)
    record.path = place.path.join('/')
    const netdevs = this.#namesBelow('net').filter((name) => !attributes.isRepresentor(name))
    record.netdevs = netdevs.join(' ')
    record.rdma_devices = this.#namesBelow('infiniband').join(' ')
    record.physical_function = glance.physicalFunction
    const node = attributes.value('numa_node', parseNumaNode)
    record.numa_node = attributes.absences.settle('numa_node', node)
    record.socket = attributes.absences.settle('socket', node instanceof Missing ? node : this.#socket())
    record.sriov_numvfs = narrow(attributes.number('sriov_numvfs', 'sriov_numvfs', U16_LIMIT))
    if (glance.physicalFunction === '') readLink('max', attributes, record)
    attributes.close(RARE_FILES)
  }

  /** Reads link and errors. */
  refresh(time: bigint): void {
    const attributes = this.#attributes
    const record = this.#record
    if (this.#glance.physicalFunction === '') this.#state.readLink(attributes)
    else lackLink(attributes, record)
    this.#rows = this.#state.readErrors(attributes, time)
    record.time = time
    this.#hasNews = true
  }

  /** Reports what was read since the last report; nothing where that is nothing. */
  report(): void {
    if (!this.#hasNews) return
    this.#hasNews = false
    const { source } = this.#context
    const pci_address = this.address
    source.report(pciDeviceType, this.#record)
    for (const { error, count, severity, ...row } of this.#rows) {
      source.report(pciAerType, { time: row.time, pci_address, severity, error, errors_total: count })
    }
  }

  /** Says that the device is gone, with all its series. */
  leave(): void {
    this.close()
    const { absences } = this.#context
    const labels = { pci_address: this.address }
    const reason = `device ${this.address} is no longer there`
    absences.gone(pciDeviceType, labels, reason)
    for (const error of this.#state.shown) absences.gone(pciAerType, { ...labels, ...error }, reason)
  }

  /** Closes the files; a later read opens them again. */
  close(): void {
    this.#attributes.close()
  }

  /** Interfaces are directly below the device, those of virtio below the virtio device in it. */
  #namesBelow(name: string): string[] {
    const { names, place } = this.#glance
    const { folder } = place
    const parents = [...names].filter((one) => VIRTIO.test(one)).map((one) => [...folder, one])
    if (names.has(name)) parents.push([...folder])
    return parents
      .flatMap((parent) => {
        const found = this.#sysfs.list(...parent, name)
        return found instanceof ReadFailure ? [] : found
      })
      .sort()
  }

  /** The socket of the processors near the device. A socket may have several NUMA nodes. */
  #socket(): number | Missing {
    const processor = this.#attributes.value('local_cpulist', parseFirstProcessor)
    if (processor instanceof Missing) return processor
    const file = this.#sysfs.file('devices', 'system', 'cpu', `cpu${processor}`, 'topology', 'physical_package_id')
    const bytes = file.readAnew()
    file.close()
    const socket = bytes instanceof ReadFailure ? undefined : parseNumber(bytes)
    return socket === undefined || socket > U16_LIMIT ? NO_SOCKET : Number(socket)
  }

  #subsystem(): string | Missing {
    const ids: string[] = []
    for (const name of ['subsystem_vendor', 'subsystem_device']) {
      const id = this.#attributes.value(name, parseHexadecimal)
      if (id instanceof Missing) return id
      ids.push(idOf(id))
    }
    return ids.join(':')
  }
}
