import type { ParseAttribute } from '../attribute-reader.ts'
import type { Attribute, AttributeCheck } from '../chains/attributes.ts'
import { firstLine } from '../chains/attributes.ts'
import type { ExplainedValue } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { Missing } from '../field-absences.ts'
import { isNumber } from '../kernel-text.ts'
import { type CounterForm, HW_COUNTERS, HW_PORT_COUNTERS, PORT_COUNTERS } from './names.ts'
import { parseCounter, parseLifespan, parseLine, parseRate, parseState, parseUevent } from './parse.ts'

/** Files of a port and of its device, and the fields that each gives. */
const STATES: readonly (readonly [name: string, fields: readonly string[], parse: ParseAttribute<unknown>])[] = [
  ['state', ['state'], parseState],
  ['phys_state', ['phys_state'], parseState],
  ['rate', ['rate_bytes_per_second', 'width_lanes', 'signalling'], parseRate],
  ['link_layer', ['link_layer'], parseLine],
]
const IDENTITY: typeof STATES = [
  ['fw_ver', ['firmware'], parseLine],
  ['hca_type', ['model'], parseLine],
  ['board_id', ['board'], parseLine],
  ['node_guid', ['node_guid'], parseLine],
  ['device/uevent', ['driver', 'address'], parseUevent],
]
const LIFESPAN = 'lifespan'
/** Types with the counters of the driver. The other types have the counters that every port has. */
const HW_TYPES: ReadonlySet<string> = new Set(['rdma_hw_first', 'rdma_hw', 'rdma_sample'])

/** The files behind the values of one port. */
export interface PortFiles {
  /** Folder of the port. */
  readonly folder: string
  /** Files of the bytes sent, and files of the bytes received; the first that exists counts. */
  readonly traffic: readonly [sent: readonly Attribute[], received: readonly Attribute[]]
  /** Lists the files of the wanted value, or of all values. A folder that cannot be listed is included as refused. */
  list(context: ChainContext): Promise<readonly (Attribute | AttributeCheck)[]>
}

/** Returns the files behind a value, or behind all values, of the port in a folder. */
export function portFilesOf(folder: string, device: string, value: ExplainedValue | undefined): PortFiles {
  const counter = (name: string) => counterAt(`${folder}/counters/${name}`, PORT_COUNTERS.get(name))
  return {
    folder,
    traffic: [
      [counter('port_xmit_data'), ...besideOf(folder, 'xmit_data_bytes_total')],
      [counter('port_rcv_data'), ...besideOf(folder, 'rcv_data_bytes_total')],
    ],
    async list(context) {
      if (value !== undefined) return filesBehindValue(context, folder, device, value)
      const counters = await listed(context, `${folder}/counters`, PORT_COUNTERS)
      const hw = await listed(context, `${folder}/hw_counters`, HW_COUNTERS)
      // Many drivers have no counters of their own, so a missing folder is no fault.
      const ofHw = hw.filter(({ path }) => !path.endsWith(`/${LIFESPAN}`)).filter(isThere)
      const states = [
        ...STATES.map(([name, , parse]) => ({ path: `${folder}/${name}`, parse })),
        ...IDENTITY.map(([name, , parse]) => ({ path: `${device}/${name}`, parse })),
      ]
      return [...counters, ...states, ...ofHw]
    },
  }
}

async function filesBehindValue(
  context: ChainContext,
  folder: string,
  device: string,
  { type, field, labels }: ExplainedValue,
): Promise<readonly (Attribute | AttributeCheck)[]> {
  const hw = `${folder}/hw_counters`
  if (type === 'rdma_driver') {
    const all = await listed(context, hw, HW_COUNTERS)
    const own = all.filter(({ path }) => !HW_COUNTERS.has(fileName(path)) && fileName(path) !== LIFESPAN)
    const wanted = own.filter(({ path }) => labels.counter === undefined || fileName(path) === labels.counter)
    return wanted.length > 0 ? wanted : [{ path: hw, found: new ReadRefusal('missing', 'ENOENT') }]
  }
  if (field === 'lifespan_seconds') return [{ path: `${hw}/${LIFESPAN}`, parse: parseLifespan }]
  const states = [
    ...STATES.map(([name, fields, parse]) => ({ path: `${folder}/${name}`, fields, parse })),
    ...IDENTITY.map(([name, fields, parse]) => ({ path: `${device}/${name}`, fields, parse })),
  ].filter(({ fields }) => type === 'rdma_port' && fields.includes(field))
  if (states.length > 0) return states
  const [counters, forms] = HW_TYPES.has(type) ? [hw, HW_COUNTERS] : [`${folder}/counters`, PORT_COUNTERS]
  const [name, form] =
    [...(forms as ReadonlyMap<string, CounterForm<string>>)].find(([, each]) => each.field === field) ?? []
  if (name === undefined) return []
  const names = await context.list(counters)
  if (names instanceof ReadRefusal || !names.includes(name)) {
    const listed = await context.list(hw)
    const beside = besideOf(folder, field).filter(
      ({ path }) => !(listed instanceof ReadRefusal) && listed.includes(fileName(path)),
    )
    if (beside.length > 0) return beside
  }
  if (names instanceof ReadRefusal) return [{ path: counters, found: names, isFolder: true }]
  return [counterAt(`${counters}/${name}`, form)]
}

/** Lists the counters in a folder; the folder itself if it cannot be listed. */
async function listed(
  context: ChainContext,
  folder: string,
  forms: ReadonlyMap<string, CounterForm<string>>,
): Promise<readonly (Attribute | AttributeCheck)[]> {
  const names = await context.list(folder)
  if (names instanceof ReadRefusal) return [{ path: folder, found: names, isFolder: true }]
  // Counters that every driver has come first, because the first file stands for the others.
  const known = [...forms.keys()].filter((name) => names.includes(name))
  const others = names.filter((name) => !forms.has(name))
  return [...known, ...others].map((name) => counterAt(`${folder}/${name}`, forms.get(name)))
}

/** Counters of the driver that replace a field if the port itself has no counter for it. */
function besideOf(folder: string, field: string): Attribute[] {
  return [...HW_PORT_COUNTERS].flatMap(([name, form]) =>
    form.field === field ? [counterAt(`${folder}/hw_counters/${name}`, form)] : [],
  )
}

function isThere(one: Attribute | AttributeCheck): boolean {
  return !('found' in one && one.found instanceof ReadRefusal && one.found.kind === 'missing')
}

/** Reads a counter as the source does: `N/A` means that the port has no such counter. */
function counterAt(path: string, form: CounterForm<string> | undefined): Attribute {
  return {
    path,
    parse(bytes) {
      const value = parseCounter(bytes, form?.bytes ?? 1)
      if (isNumber(value)) return value
      if (value === 'huge') return new Missing('failed', `it does not fit into 64 bits: ${firstLine(bytes)}`)
      return value === 'not_available' ? new Missing('unsupported', firstLine(bytes)) : undefined
    },
  }
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
