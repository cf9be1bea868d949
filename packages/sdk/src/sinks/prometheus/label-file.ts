import { SondeError } from '../../errors.ts'
import { pciAddressOf } from '../../internal/pci-address.ts'

/** A value with places for labels of the record: `gpu-${device}`. Texts and names of labels in turns, a text first. */
export type Template = readonly string[]

/** Labels and their values, in the order of the file. */
export type LabelTemplates = ReadonlyMap<string, Template>

/** How a type says which device a record is about. */
export interface DeviceField {
  /** Name of the label. */
  readonly field: string
  /** What stands in it. */
  readonly kind: DeviceKind
}

/** A network interface, an RDMA device, a PCI address, a device of the vendor's tools, or any of them. */
export type DeviceKind = 'netif' | 'rdma' | 'pci' | 'mst' | 'any'

/** The parsed content of a label file. */
export interface LabelFile {
  /** Of every series. */
  readonly all: LabelTemplates
  /** Of the series of a device, by PCI address in lower case. */
  readonly devices: ReadonlyMap<string, LabelTemplates>
  /** PCI address of devices, by name. */
  readonly addresses: ReadonlyMap<string, string>
  /** By type. */
  readonly deviceFields: ReadonlyMap<string, DeviceField>
}

/** Size of a file at most. Unit: bytes. */
export const LABEL_FILE_BYTES_LIMIT = 1 << 20
const LABEL_COUNT_LIMIT = 32
const VALUE_LIMIT_CHARACTERS = 1024
const LABEL_NAME = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,127}$/
const KINDS: readonly string[] = ['netif', 'rdma', 'pci', 'mst'] satisfies DeviceKind[]
const SECTIONS: readonly string[] = ['global_labels', 'device_labels', 'device_mapping', 'data_types_mapping']

/** A label of a line or an option, before its check. */
interface LabelFileEntry {
  readonly key: string
  readonly value: string
  /** `file:line`, or the option. */
  readonly place: string
  /** Names a text in a message: texts of a file are not shown, for it may be any file, as a link may lead there. */
  readonly show: (text: string) => string
}

/**
 * Parses a label file: lines `name=value`, or the sections of a `level_labels.ini`. Lines before the first section
 * belong to `[global_labels]`. Pure. `file` is its name in errors, which never quote its text.
 *
 * @throws SondeError `PRM_LABELS` with the file, the line and the allowed text.
 */
export function parseLabelFile(text: string, file: string): LabelFile {
  const all = new Map<string, Template>()
  const devices = new Map<string, LabelTemplates>()
  const addresses = new Map<string, string>()
  const deviceFields = new Map<string, DeviceField>()
  let section = 'global_labels'
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const place = `${file}:${index + 1}`
    const told = line.trim()
    if (told === '' || told.startsWith('#') || told.startsWith(';')) continue
    if (told.startsWith('[')) {
      section = told.slice(1, -1)
      if (!told.endsWith(']') || !SECTIONS.includes(section))
        throw fault(place, 'it is no section', SECTIONS.map((name) => `[${name}]`).join(', '))
      continue
    }
    const at = told.indexOf('=')
    if (at < 1) throw fault(place, 'it has no name before =', 'name=value')
    const entry: LabelFileEntry = {
      key: told.slice(0, at).trimEnd(),
      value: told.slice(at + 1).trimStart(),
      place,
      show: it,
    }
    if (section === 'global_labels') addLabel(all, entry)
    else if (section === 'device_labels') once(devices, addressOf(entry), entry, labelsOf(entry))
    else if (section === 'device_mapping') once(addresses, entry.key, entry, addressOf({ ...entry, key: entry.value }))
    else once(deviceFields, entry.key, entry, deviceFieldOf(entry))
  }
  return { all, devices, addresses, deviceFields }
}

/**
 * Checks a label of an option.
 *
 * @throws SondeError `PRM_LABELS` with the label and the allowed text.
 */
export function checkLabelTemplates(labels: Readonly<Record<string, string>>, place: string): LabelTemplates {
  const checked = new Map<string, Template>()
  for (const [key, value] of Object.entries(labels))
    addLabel(checked, { key, value: String(value), place, show: quoted })
  return checked
}

function addLabel(labels: Map<string, Template>, entry: LabelFileEntry): void {
  const { key, place, show } = entry
  if (!LABEL_NAME.test(key))
    throw fault(
      place,
      `${show(key)} is no name of a label`,
      'letters, digits and _, with no digit first, and not __ at the beginning',
    )
  if (labels.size >= LABEL_COUNT_LIMIT)
    throw fault(place, `${show(key)} is one label too many`, `${LABEL_COUNT_LIMIT} labels`)
  once(labels, key, entry, templateOf(entry))
}

/** `rail|0|plane|0`: names and values in turns. */
function labelsOf({ value, place, show }: LabelFileEntry): LabelTemplates {
  const parts = value.split('|')
  if (parts.length % 2 !== 0) throw fault(place, `${show(value)} has a name without a value`, 'name|value|name|value')
  const labels = new Map<string, Template>()
  for (let i = 0; i < parts.length; i += 2)
    addLabel(labels, { key: parts[i]?.trim() ?? '', value: parts[i + 1]?.trim() ?? '', place, show })
  return labels
}

function addressOf({ key, place, show }: LabelFileEntry): string {
  const address = pciAddressOf(key)
  if (address === undefined) throw fault(place, `${show(key)} is no PCI address`, 'one such as 0000:03:00.0')
  return address
}

function deviceFieldOf({ value, place, show }: LabelFileEntry): DeviceField {
  const [field = '', kind = '', ...more] = value.split('|').map((part) => part.trim())
  if (field === '' || more.length > 0 || !KINDS.includes(kind))
    throw fault(
      place,
      `${show(value)} names no field and its kind`,
      `field|kind, of which the kind is one of ${KINDS.join(', ')}`,
    )
  return { field, kind: kind as DeviceKind }
}

function templateOf({ value, place, show }: LabelFileEntry): Template {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this finds control characters
  if (value.length > VALUE_LIMIT_CHARACTERS || /[\u0000-\u001f\u007f]/.test(value))
    throw fault(place, `${show(value)} is no value of a label`, `text of at most ${VALUE_LIMIT_CHARACTERS} characters`)
  const parts = value.split(/\$\{([^{}]*)\}/)
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0 ? part.includes('${') : !/^[A-Za-z_][A-Za-z0-9_.:-]*$/.test(part))
      throw fault(
        place,
        `${show(value)} has a \${ that names no label`,
        `the name of a label and a closing }, such as \${device}`,
      )
  }
  return parts
}

function once<T>(map: Map<string, T>, key: string, { place, show }: LabelFileEntry, value: T): void {
  if (map.has(key)) throw fault(place, `${show(key)} is there twice`, 'each once')
  map.set(key, value)
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}

function it(): string {
  return 'it'
}

function fault(place: string, what: string, allowed: string): SondeError {
  return new SondeError('PRM_LABELS', `${place}: ${what}; allowed: ${allowed}`)
}
