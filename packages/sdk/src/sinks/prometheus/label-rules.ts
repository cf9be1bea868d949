import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pciAddressOf } from '../../internal/pci-address.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type Labels, labelOf } from '../../schema/series.ts'
import type { AddedLabels } from '../../wire/prometheus/label-text.ts'
import type { DeviceKind, LabelFile, LabelTemplates, Template } from './label-file.ts'

/** Limit of devices whose address is cached. */
const DEVICE_LIMIT = 4096
/** Folders of the kernel in which a device is looked for by name. */
const FOLDERS: Readonly<Record<DeviceKind, readonly string[]>> = {
  netif: ['net'],
  rdma: ['infiniband'],
  pci: [],
  mst: ['infiniband', 'net'],
  any: ['net', 'infiniband'],
}

/** Labels that name a device. Those with a PCI address come first. */
const DEVICE_LABELS = ['pci_address', 'pci_bus_id', 'rdma_device', 'device', 'chip', 'disk']

/** Adds the labels of a label file and constant ones to series. What the record or its source says itself stays. */
export class LabelRules implements AddedLabels {
  readonly names: readonly string[]
  readonly #file: LabelFile
  readonly #constant: LabelTemplates
  readonly #sysfs: string
  readonly #addresses = new Map<string, string | undefined>()

  constructor(file: LabelFile, constant: LabelTemplates, sysfs: string) {
    this.#file = file
    this.#constant = constant
    this.#sysfs = sysfs
    const sets = [constant, file.all, ...file.devices.values()]
    this.names = [...new Set(sets.flatMap((labels) => [...labels.keys()]))]
  }

  of(type: RecordType, source: SourceInfo, own: Labels): Labels {
    const labels: Record<string, string> = {}
    const devices = this.#file.devices.size === 0 ? undefined : this.#file.devices.get(this.#deviceOf(type, own) ?? '')
    // Labels of the device win over global labels.
    for (const templates of [this.#constant, this.#file.all, devices])
      for (const [name, template] of templates ?? []) labels[name] = filled(template, source, own)
    return labels
  }

  /** PCI address of the device that a record is about, from a label of the device if no line names the type. */
  #deviceOf(type: RecordType, own: Labels): string | undefined {
    const told = this.#file.deviceFields.get(type.name)
    const kind = told?.kind ?? 'any'
    const fields = told === undefined ? DEVICE_LABELS : [told.field]
    const name = fields.map((field) => labelOf(own, field)).find((text) => text !== '') ?? ''
    if (name === '') return undefined
    const key = `${kind} ${name}`
    if (this.#addresses.has(key)) return this.#addresses.get(key)
    const address = this.#file.addresses.get(name) ?? pciAddressOf(name) ?? this.#look(kind, name)
    if (this.#addresses.size < DEVICE_LIMIT) this.#addresses.set(key, address)
    return address
  }

  #look(kind: DeviceKind, name: string): string | undefined {
    if (!/^[\w:.@-]{1,64}$/.test(name) || /^\.+$/.test(name)) return undefined
    for (const folder of FOLDERS[kind]) {
      try {
        // The last PCI address of the path: devices below it, such as a function of virtio, have no labels.
        const way = realpathSync(join(this.#sysfs, 'class', folder, name, 'device')).split('/')
        const address = way.map(pciAddressOf).findLast((part) => part !== undefined)
        if (address !== undefined) return address
      } catch {
        // An unknown device, or a device without a bus, has no labels.
      }
    }
    return undefined
  }
}

/** Empty if the record has not all of the labels that the value is made of. */
function filled(template: Template, source: SourceInfo, own: Labels): string {
  let text = ''
  for (const [i, part] of template.entries()) {
    if (i % 2 === 0) {
      text += part
      continue
    }
    const value = labelOf(own, part) || labelOf(source.labels, part) || ofSource(source, part)
    if (value === '') return ''
    text += value
  }
  return text
}

function ofSource({ id, tag }: SourceInfo, name: string): string {
  return name === 'source' ? id : name === 'tag' ? tag : ''
}
