import { basename } from 'node:path'
import type { ParseAttribute } from '../attribute-reader.ts'
import {
  type Attribute,
  type AttributeCheck,
  failedIn,
  permissionStep,
  readLine,
  refusedIn,
  surveyOf,
  valueText,
} from '../chains/attributes.ts'
import { broken, type ExplainedValue, type Finding, fine, type Step } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { fileStep } from '../chains/steps.ts'
import { Missing } from '../field-absences.ts'
import { parseNumber } from '../kernel-text.ts'
import { withinRange } from '../ranges/within.ts'
import { parseNodeMeminfo, parseNumastat } from './parse-memory.ts'
import { parseKilohertz, parseLabel, parseMillidegrees, parseMilliseconds } from './parse-sysfs.ts'
import type { ParseFile } from './reader.ts'
import { SENSOR_KINDS, type SensorKind } from './sensor-kinds.ts'
import { hostCpuPackageType, hostThermalZoneType } from './type.ts'

/** A kind of file below the folders of a driver, and the advice if there is none. */
interface Sight {
  readonly type: string
  /** Fields of the type that these files give. Default: all. */
  readonly fields?: RegExp
  /** Pattern of each name on the path to the file. */
  readonly path: readonly RegExp[]
  /** A folder that is searched if the files are not in the first one. Default: none. */
  readonly beside?: string
  /** Returns the parser of the file with a name. */
  readonly parse: (name: string) => ParseAttribute<unknown>
  readonly fix: string
}

/** A folder of sysfs in which a driver has a folder for each device. */
export interface ExplainedFolder {
  /** Path below sysfs. */
  readonly name: string
  /** The name that people use for it. */
  readonly alias: string
  /** Names of the folders in it. */
  readonly things: RegExp
  /** File in each folder that holds the device's name; empty if the folder's name is enough. */
  readonly title: string
  readonly fix: string
  readonly sights: readonly Sight[]
}

const MONITORS = 'sudo modprobe coretemp, on processors of AMD k10temp; virtual machines have none'
const EDAC =
  'sudo modprobe skx_edac, i10nm_edac or amd64_edac, depending on the processor; if the firmware keeps the errors, they are in the log of the BMC'
const METER =
  'if the board has such a meter, sudo modprobe acpi_power_meter or the module of the board; many boards give it only to the BMC'

const NO_LIMIT = 'not possible: the driver of the monitor has no such limit'

/** Files of one kind of sensor: its measurement and each limit. Old drivers put them into the folder of the device. */
function sensorSights(kind: string, fix: string): Sight[] {
  const { type, field, parse, limits } = SENSOR_KINDS[kind] as SensorKind
  const sights = [
    { field, suffix: '(input|average)', fix },
    ...Object.entries(limits).map(([limit, suffix]) => ({ field: limit, suffix, fix: NO_LIMIT })),
  ]
  return sights.map((one) => ({
    ...{ type: type.name, fields: new RegExp(`^${one.field}$`), fix: one.fix },
    path: [new RegExp(`^${kind}\\d+_${one.suffix}$`)],
    beside: 'device',
    parse: () => withinRange(type, one.field, parse),
  }))
}

const FOLDERS: readonly ExplainedFolder[] = [
  {
    ...{ name: 'class/hwmon', alias: 'hwmon', things: /^hwmon\d+$/, title: 'name', fix: MONITORS },
    sights: [...sensorSights('temp', MONITORS), ...sensorSights('fan', METER), ...sensorSights('power', METER)],
  },
  {
    ...{ name: 'class/thermal', alias: 'thermal', things: /^thermal_zone\d+$/, title: 'type' },
    fix: 'sudo modprobe x86_pkg_temp_thermal; virtual machines have no thermal zone',
    sights: [
      {
        type: 'host_thermal_zone',
        path: [/^temp$/],
        parse: () => withinRange(hostThermalZoneType, 'celsius', parseMillidegrees),
        fix: 'look in dmesg why the driver of the zone is not bound',
      },
    ],
  },
  {
    ...{ name: 'devices/system/edac/mc', alias: 'edac', things: /^mc\d+$/, title: 'mc_name', fix: EDAC },
    sights: [
      { type: 'host_memory_controller', path: [/^(ce|ue)_count$/], parse: () => parseNumber, fix: EDAC },
      {
        type: 'host_memory_module',
        path: [/^(dimm|rank|csrow)\d+$/, /^(dimm_)?(ce|ue)_count$/],
        parse: () => parseNumber,
        fix: 'use the errors of the controller: this driver does not tell modules apart',
      },
    ],
  },
  {
    ...{ name: 'devices/system/cpu', alias: 'cpu_packages', things: /^cpu\d+$/, title: '' },
    fix: 'give the sysfs of the kernel with --path.sysfs: that lists CPUs here',
    sights: [
      {
        ...{ type: 'host_cpu_package', fields: /throttle/ },
        path: [/^thermal_throttle$/, /^(core|package)_throttle_(count|total_time_ms)$/],
        parse: (name) => (name.endsWith('_ms') ? parseMilliseconds : parseNumber),
        fix: 'on an Intel processor, use a kernel built with CONFIG_X86_THERMAL_VECTOR; other processors and virtual machines do not have it',
      },
      {
        ...{ type: 'host_cpu_package', fields: /frequency|governor/ },
        path: [/^cpufreq$/, /^(scaling_max_freq|cpuinfo_max_freq|scaling_governor)$/],
        parse: (name) =>
          name === 'scaling_governor'
            ? parseLabel
            : withinRange(hostCpuPackageType, 'frequency_max_hertz', parseKilohertz),
        fix: 'sudo modprobe acpi_cpufreq; if the firmware or a hypervisor chooses the clock, there is no driver',
      },
    ],
  },
  {
    ...{ name: 'devices/system/node', alias: 'numa', things: /^node\d+$/, title: '' },
    fix: 'use a kernel built with CONFIG_NUMA; others have one node of memory',
    sights: [
      {
        ...{
          type: 'host_numa',
          path: [/^(meminfo|numastat)$/],
          fix: 'use another kernel: this kernel does not have these files',
        },
        parse: (name) => (name === 'meminfo' ? recordIn(parseNodeMeminfo) : recordIn(parseNumastat)),
      },
    ],
  },
]

/** The folders by their path below sysfs. */
export const explainedFolder: ReadonlyMap<string, ExplainedFolder> = new Map(
  FOLDERS.map((folder) => [folder.name, folder]),
)

/** The first folders and files are checked, and stand for the rest. */
const LOOK_LIMIT = 16

/** Steps of one folder: it exists, a driver uses it, it may be read, and its files hold the values. */
export function folderSteps(
  context: ChainContext,
  folder: ExplainedFolder,
  value: ExplainedValue | undefined,
): readonly Step[] {
  const sights = folder.sights.filter(
    ({ type, fields }) => value === undefined || (type === value.type && fields?.test(value.field) !== false),
  )
  if (sights.length === 0) return []
  const path = `${context.sysfs}/${folder.name}`
  const survey = surveyOf(context, () => filesOf(context, folder, path, sights))
  return [
    fileStep(context, path, folder.fix),
    { name: 'driver', check: () => checkThings(context, folder, path) },
    permissionStep(survey, path),
    {
      name: 'counters',
      async check() {
        const checks = await survey()
        const none = broken(path, 'nothing in it has such a file', sights[0]?.fix ?? folder.fix)
        return checks.length === 0 ? none : checkFiles(checks)
      },
    },
  ]
}

async function checkThings(context: ChainContext, folder: ExplainedFolder, path: string): Promise<Finding> {
  const names = await thingsOf(context, folder, path)
  if (names.length === 0) return broken(path, 'no driver has anything in it', folder.fix)
  if (folder.title === '') return fine(path, names.join(', '))
  const titles = await Promise.all(names.map((name) => readLine(context, `${path}/${name}/${folder.title}`)))
  return fine(path, titles.map((title, index) => (typeof title === 'string' ? title : names[index])).join(', '))
}

/** Reports what the files hold. A file that its driver refuses is a fault only if every file is refused. */
function checkFiles(checks: readonly AttributeCheck[]): Finding {
  const failed = failedIn(checks)
  if (failed !== undefined) return failed
  const refused = refusedIn(checks, 'missing', 'unsupported')
  const [first] = refused
  if (first !== undefined && refused.length === checks.length)
    return broken(first.path, first.found.words, 'look in dmesg why the driver or its firmware does not answer')
  const shown = checks.find(({ found }) => !(found instanceof ReadRefusal))
  const beside = first === undefined ? '' : `, ${refused.length} of them refused: ${first.path}`
  const count = checks.length === 1 ? '' : `; ${checks.length} such files${beside}`
  return fine(shown?.path ?? '', `${valueText(shown?.found)}${count}`)
}

async function thingsOf(context: ChainContext, folder: ExplainedFolder, path: string): Promise<string[]> {
  const names = await context.list(path)
  return names instanceof ReadRefusal ? [] : names.filter((name) => folder.things.test(name)).slice(0, LOOK_LIMIT)
}

/** Finds the files of the given kinds. */
async function filesOf(
  context: ChainContext,
  folder: ExplainedFolder,
  path: string,
  sights: readonly Sight[],
): Promise<Attribute[]> {
  const things = (await thingsOf(context, folder, path)).map((name) => `${path}/${name}`)
  const found: Attribute[] = []
  for (const sight of sights) {
    let places = things
    for (const part of sight.path) {
      const below = await Promise.all(places.map((place) => namesAt(context, place, part, sight.beside)))
      places = below.flat().slice(0, LOOK_LIMIT)
    }
    found.push(...places.map((place) => ({ path: place, parse: sight.parse(basename(place)) })))
  }
  return found
}

/** Returns the paths in a folder whose names match. If none does, searches the folder beside it. */
async function namesAt(context: ChainContext, place: string, part: RegExp, beside?: string): Promise<string[]> {
  const listed = await context.list(place)
  const names = listed instanceof ReadRefusal ? [] : listed.filter((name) => part.test(name))
  if (names.length > 0 || beside === undefined) return names.map((name) => `${place}/${name}`)
  return namesAt(context, `${place}/${beside}`, part)
}

/** Parses a file of several values as one attribute. */
export function recordIn(parse: ParseFile<object>): ParseAttribute<object> {
  return (bytes) => {
    const found = parse(bytes)
    return typeof found === 'string' ? new Missing('failed', `it ${found}`) : found
  }
}
