import {
  type AttributeCheck,
  failedIn,
  foundAt,
  permissionStep,
  refusedIn,
  surveyOf,
  valueText,
} from '../chains/attributes.ts'
import {
  broken,
  type ChainDevice,
  type ExplainedValue,
  type Finding,
  fine,
  type SourceExplain,
  type Step,
} from '../chains/chain.ts'
import type { ChainContext } from '../chains/chain-context.ts'
import { fileStep } from '../chains/steps.ts'
import { explainedFolder, folderSteps, recordIn } from './explain-folders.ts'
import { explainedOther } from './explain-others.ts'
import { parseLoadavg, parseMeminfo, parsePressure, parseSoftnet, parseStat } from './parse.ts'
import { parseDiskstats } from './parse-disks.ts'
import { parseVmstat } from './parse-memory.ts'
import { parseMountinfo } from './parse-mounts.ts'
import { NETSTAT_FIELDS, parseProtocols, SNMP_FIELDS } from './parse-network.ts'
import { parseSockets } from './parse-sockets.ts'
import type { ParseFile } from './reader.ts'

/** A file of procfs, and the types whose values it gives. */
interface HostFile {
  readonly types: readonly string[]
  readonly parse: ParseFile<object>
}

const PRESSURE: HostFile = { types: ['host_pressure', 'host_pressure_sample'], parse: parsePressure }
const FILES: Readonly<Record<string, HostFile>> = {
  stat: { types: ['host_cpu', 'host_kernel'], parse: parseCpus },
  meminfo: { types: ['host_memory'], parse: parseMeminfo },
  'pressure/cpu': PRESSURE,
  'pressure/memory': PRESSURE,
  'pressure/io': PRESSURE,
  'net/softnet_stat': { types: ['host_softnet'], parse: parseSoftnet },
  loadavg: { types: ['host_load'], parse: parseLoadavg },
  vmstat: { types: ['host_vm'], parse: parseVmstat },
  diskstats: { types: ['host_disk'], parse: parseDiskstats },
  'net/snmp': { types: ['host_network'], parse: (bytes) => parseProtocols(bytes, SNMP_FIELDS) },
  'net/sockstat': { types: ['host_sockets'], parse: parseSockets },
  'net/sockstat6': { types: ['host_sockets'], parse: parseSockets },
  '1/mountinfo': { types: ['host_filesystem'], parse: parseMountinfo },
  'net/netstat': { types: ['host_network'], parse: (bytes) => parseProtocols(bytes, NETSTAT_FIELDS) },
}
const PSI_START = 'start the kernel with psi=1'
const PSI = `${PSI_START} if it is a file of pressure`

/** Chains behind the values of `host`: one for each file of procfs, each folder of sysfs, and each of the rest. */
export const hostExplain: SourceExplain = {
  steps: (context) => {
    // Without its CPUs the source reads nothing else.
    const path = `${context.procfs}/stat`
    const survey = surveyOf(context, async () => [{ path, parse: recordIn(parseCpus) }])
    return [
      fileStep(context, path, `mount -t proc proc ${context.procfs}`),
      permissionStep(survey, path),
      { name: 'counters', check: async () => checkFile(await survey(), path) },
    ]
  },
  async devices(): Promise<ChainDevice[]> {
    const files = Object.keys(FILES).map((name) => ({ name, aliases: [] }))
    const folders = explainedFolder.values().map(({ name, alias }) => ({ name, aliases: [alias] }))
    return [...files, ...folders, ...explainedOther.entries().map(([name, { alias }]) => ({ name, aliases: [alias] }))]
  },
  deviceSteps: (context, name, value) => {
    const folder = explainedFolder.get(name)
    if (folder !== undefined) return folderSteps(context, folder, value)
    const other = explainedOther.get(name)
    if (other !== undefined) return value === undefined || other.types.includes(value.type) ? other.steps(context) : []
    const file = FILES[name]
    return file === undefined ? [] : fileSteps(context, name, file, value)
  },
}

/** Chains behind the fast samples of pressure: one for each pressure file. */
export const pressureExplain: SourceExplain = {
  steps: (context) => [fileStep(context, `${context.procfs}/pressure`, `use a kernel with CONFIG_PSI; ${PSI_START}`)],
  async devices(): Promise<ChainDevice[]> {
    const names = Object.keys(FILES).filter((name) => FILES[name] === PRESSURE)
    return names.map((name) => ({ name, aliases: [] }))
  },
  deviceSteps: hostExplain.deviceSteps,
}

/**
 * Steps of one file. All chains have the same steps in the same order, because chains of several files are merged step
 * by step.
 */
function fileSteps(
  context: ChainContext,
  name: string,
  { types, parse }: HostFile,
  value: ExplainedValue | undefined,
): Step[] {
  if (value !== undefined && !types.includes(value.type)) return []
  const path = `${context.procfs}/${name}`
  const survey = surveyOf(context, async () => [{ path, parse: recordIn(parse) }])
  return [
    fileStep(context, path, 'use a kernel that has it; pressure needs one built with CONFIG_PSI'),
    { name: 'driver', check: async () => fine(path, 'the kernel itself') },
    permissionStep(survey, path),
    { name: 'counters', check: async () => checkFile(await survey(), path, value) },
  ]
}

function checkFile(checks: readonly AttributeCheck[], path: string, value?: ExplainedValue): Finding {
  const failed = failedIn(checks)
  if (failed !== undefined) return failed
  const [refused] = refusedIn(checks, 'missing', 'unsupported')
  if (refused !== undefined) return broken(path, refused.found.words, PSI)
  const found = foundAt(checks, path) as Readonly<Record<string, unknown>>
  // A table has a row for each device. A record has the field, unless the kernel does not print it.
  const tables = Array.isArray(found) ? [found] : Object.values(found).filter(Array.isArray)
  if (value !== undefined && tables.length > 0 && tables.every((rows) => rows.length === 0))
    return broken(path, 'it lists nothing', `this machine has none; if it has, look at what is mounted at ${path}`)
  if (value === undefined || tables.length > 0) return fine(path, valueText(found))
  const held = found[value.field]
  if (held === undefined)
    return broken(path, `nothing of ${value.field}`, 'use a newer kernel: this kernel does not report it')
  return fine(path, valueText(held))
}

function parseCpus(bytes: Uint8Array): object | string {
  const stat = parseStat(bytes)
  return stat.cpus.length > 0 ? stat : 'lists no CPU'
}
