import type { ParseAttribute } from '../attribute-reader.ts'
import {
  type Attribute,
  type AttributeCheck,
  failedIn,
  permissionStep,
  readAs,
  refusedIn,
  surveyOf,
  valueText,
} from '../chains/attributes.ts'
import { broken, type ExplainedValue, type Finding, fine, type SourceExplain, type Step } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { bindCommand, driverStep, fileStep, pciBusFolder } from '../chains/steps.ts'
import { Missing } from '../field-absences.ts'
import { parseNumber } from '../kernel-text.ts'
import { AerFile, SEVERITIES } from './aer.ts'
import { isAddress, parseFirstProcessor, parseHexadecimal, parseNumaNode, parseSpeed, parseWidth } from './parse.ts'

/** The value of every read from a device that fell off the bus: all ones. */
const ONES_WIDTH = 63
const NO_WIDTHS: ReadonlySet<unknown> = new Set([0, ONES_WIDTH, 255])

interface DeviceFile {
  readonly name: string
  readonly parse: ParseAttribute<unknown>
  /** The values that are made of it; every value where it says what the device is. */
  readonly fields: RegExp
}

const ALL = /^/
const FILES: readonly DeviceFile[] = [
  ...['vendor', 'device', 'class'].map((name) => ({ name, parse: parseHexadecimal, fields: ALL })),
  ...['subsystem_vendor', 'subsystem_device'].map((name) => ({
    ...{ name, parse: parseHexadecimal, fields: /^subsystem_id$/ },
  })),
  { name: 'numa_node', parse: parseNumaNode, fields: /^numa_node$/ },
  { name: 'local_cpulist', parse: parseFirstProcessor, fields: /^socket$/ },
  { name: 'sriov_numvfs', parse: parseNumber, fields: /^sriov_numvfs$/ },
  ...['current', 'max'].flatMap((state) => [
    { name: `${state}_link_speed`, parse: parseSpeed, fields: new RegExp(`^${state}_link_(speed|bandwidth)`) },
    { name: `${state}_link_width`, parse: parseWidth, fields: new RegExp(`^${state}_link_(width|bandwidth)`) },
  ]),
  ...SEVERITIES.map((severity) => {
    return { name: `aer_dev_${severity}`, parse: parseErrors, fields: new RegExp(`^aer_${severity}_total$`) }
  }),
  ...(['cor', 'nonfatal', 'fatal'] as const).map((end, at) => {
    const fields = new RegExp(`^aer_rootport_${SEVERITIES[at]}_total$`)
    return { name: `aer_rootport_total_err_${end}`, parse: parseNumber, fields }
  }),
]

/** Chains behind the values of `pci`: one a device of the bus. */
export const pciExplain: SourceExplain = {
  steps: (context) => [
    fileStep(
      context,
      pciBusFolder(context),
      'in a container, mount the sysfs of the host and name it with --path.sysfs',
    ),
  ],
  async devices(context) {
    const addresses = await context.list(pciBusFolder(context))
    if (addresses instanceof ReadRefusal) return []
    return addresses.filter(isAddress).map((name) => ({ name, aliases: [`pci-${name}`] }))
  },
  deviceSteps: (context, address, value) => {
    const folder = `${pciBusFolder(context)}/${address}`
    const survey = surveyOf(context, () => filesOf(context, folder, value))
    return [
      fileStep(context, folder, `echo 1 | sudo tee ${context.sysfs}/bus/pci/rescan`),
      driverStep(context, folder, () => findDriver(context, folder, address)),
      permissionStep(survey, folder),
      { name: 'counters', check: async () => checkCounters(await survey(), folder, value) },
      { name: 'link', check: () => checkLink(context, folder, value) },
    ] satisfies Step[]
  },
}

/** The total of a file of AER. A line that is no count takes its own value away, not the others. */
function parseErrors(bytes: Uint8Array): string | Missing {
  const { total, fault } = new AerFile().take(bytes, 0n)
  if (total === undefined) return new Missing('failed', `it ${fault}`)
  return fault === undefined ? `${total} errors` : `${total} errors; it ${fault}`
}

/** The files of the requested value, or of all values; without a file, those that the device has. */
async function filesOf(
  context: ChainContext,
  folder: string,
  value: ExplainedValue | undefined,
): Promise<readonly (Attribute | AttributeCheck)[]> {
  const names = await context.list(folder)
  if (names instanceof ReadRefusal) return [{ path: folder, found: names, isFolder: true }]
  return FILES.filter(({ name, fields }) =>
    value === undefined ? names.includes(name) : fields !== ALL && isOf(value, name, fields),
  )
    .concat(value === undefined ? [] : FILES.filter(({ fields }) => fields === ALL))
    .map(({ name, parse }) => ({ path: `${folder}/${name}`, parse }))
}

function isOf({ type, field, labels }: ExplainedValue, name: string, fields: RegExp): boolean {
  if (type !== 'pci_aer') return fields.test(field)
  return name === `aer_dev_${labels.severity ?? 'correctable'}`
}

async function findDriver(context: ChainContext, folder: string, address: string): Promise<Finding> {
  const tried = `${folder}/driver`
  const command = await bindCommand(context, address)
  if (command === undefined) return fine(tried, 'none is bound; the PCI core itself says what is read here')
  return broken(tried, 'no driver is bound', command)
}

function checkCounters(checks: readonly AttributeCheck[], folder: string, value: ExplainedValue | undefined): Finding {
  const failed = failedIn(checks.filter(({ path }) => value !== undefined || !path.includes('/current_link_')))
  if (failed !== undefined) return failed
  const [first] = checks
  if (value === undefined) {
    const errors = checks.find(({ path }) => path.endsWith('/aer_dev_correctable'))
    if (errors === undefined)
      return fine(`${folder}/aer_dev_correctable`, 'nothing is there: errors of this device are not counted')
    return fine(errors.path, valueText(errors.found))
  }
  if (first === undefined) return fine(folder, 'no file: it is made of others')
  const [missing] = refusedIn(checks, 'missing', 'unsupported')
  if (missing === undefined) return fine(first.path, valueText(first.found))
  return broken(missing.path, missing.found.words, lacking(missing.path.slice(folder.length + 1)))
}

/** Why a device has no such file. */
function lacking(name: string): string {
  if (name.startsWith('aer_rootport'))
    return 'ask for a root port: only root ports count messages of devices below them'
  if (name.startsWith('aer_'))
    return 'look for AER in dmesg and in the settings of the firmware: the firmware keeps it, or the device has none'
  if (name.includes('_link_'))
    return 'not possible: the device is not PCI Express, or is a virtual function, and has no link of its own'
  if (name === 'sriov_numvfs') return 'not possible: the device has no virtual functions'
  return 'not possible: the kernel or the firmware does not tell it'
}

async function checkLink(context: ChainContext, folder: string, value: ExplainedValue | undefined): Promise<Finding> {
  const tried = `${folder}/current_link_{speed,width}`
  const [speed, width] = await Promise.all([
    readAs(context, `${folder}/current_link_speed`, parseSpeed),
    readAs(context, `${folder}/current_link_width`, parseWidth),
  ])
  for (const found of [speed, width]) {
    if (!(found instanceof ReadRefusal)) continue
    if (found.kind === 'missing') return fine(tried, 'it has no link of its own')
    // What may not be read is broken where it is asked for; of another value it says nothing.
    if (value !== undefined && !value.field.includes('_link_')) return { state: 'unknown', tried, answer: found.words }
    const fix = 'look in dmesg whether the device left the bus: the kernel could not ask it'
    return failedIn([{ path: tried, found }]) ?? broken(tried, found.words, fix)
  }
  if (width === ONES_WIDTH && speed === 'unknown') {
    const command = `echo 1 | sudo tee ${folder}/remove ${context.sysfs}/bus/pci/rescan; if it stays away, reboot`
    return broken(tried, `unknown speed, ${ONES_WIDTH} lanes: the device fell off the bus`, command)
  }
  if (speed === 'unknown' || NO_WIDTHS.has(width)) {
    const answer = 'the link is down, or the port has none'
    const isAsked = value?.field.startsWith('current_link_') === true
    return isAsked
      ? broken(tried, answer, 'plug a device in, or look at dmesg for why the link is down')
      : fine(tried, answer)
  }
  return fine(tried, `${Number(speed) / 1e9} GT/s, ${width} lanes`)
}
