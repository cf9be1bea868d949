import { shellWord } from '@sonde/sdk/internal'
import { type AttributeCheck, failedIn, permissionStep, refusedIn, surveyOf, valueText } from '../chains/attributes.ts'
import { broken, type ExplainedValue, type Finding, fine, type SourceExplain, type Step } from '../chains/chain.ts'
import type { ChainContext } from '../chains/chain-context.ts'
import { interfaceDevices, interfaceSteps, netdevLine } from '../chains/network-interface.ts'
import { fileStep } from '../chains/steps.ts'
import { parseNumber } from '../kernel-text.ts'
import { refusalWords } from './interface.ts'
import { parseCarrier, parseMtu, parseNetdev, parseOperstate, parseSpeed } from './parse.ts'

/** Files of an interface by the field that is made of each. */
const FILES = {
  up: { name: 'operstate', parse: parseOperstate },
  carrier: { name: 'carrier', parse: parseCarrier },
  speed_bytes_per_second: { name: 'speed', parse: parseSpeed },
  mtu_bytes: { name: 'mtu', parse: parseMtu },
  carrier_changes_total: { name: 'carrier_changes', parse: parseNumber },
} as const

/** Chains behind the values of `netdev`: the table of all interfaces, then each interface. */
export const netdevExplain: SourceExplain = {
  steps: (context) => {
    const path = `${context.procfs}/net/dev`
    const table = surveyOf(context, async () => [{ path, parse: (bytes) => parseNetdev(bytes, 0n) }])
    return [
      fileStep(context, path, `mount -t proc proc ${context.procfs}: every kernel with networking has this file`),
      fileStep(context, `${context.sysfs}/class/net`, `mount -t sysfs sysfs ${context.sysfs}`),
      permissionStep(table, path),
    ]
  },
  devices: interfaceDevices,
  deviceSteps: (context, device, value) => interfaceSteps(context, device, attributeSteps(context, device, value)),
}

/** Links of the interface's own files; most values come from the table of all. */
function attributeSteps(context: ChainContext, device: string, value: ExplainedValue | undefined): readonly Step[] {
  const folder = `${context.sysfs}/class/net/${device}`
  const wanted = Object.entries(FILES).filter(([field]) => value === undefined || field === value.field)
  const files = wanted.map(([, { name, parse }]) => ({ path: `${folder}/${name}`, parse }))
  const survey = surveyOf(context, async () => files)
  return [
    permissionStep(survey, `${context.procfs}/net/dev`),
    { name: 'counters', check: async () => checkCounters(context, device, await survey(), value) },
  ]
}

async function checkCounters(
  context: ChainContext,
  device: string,
  checks: readonly AttributeCheck[],
  value: ExplainedValue | undefined,
): Promise<Finding> {
  const failed = failedIn(checks)
  if (failed !== undefined) return failed
  const path = `${context.procfs}/net/dev`
  const [first] = checks
  if (value !== undefined && first !== undefined) {
    const [refused] = refusedIn(checks, 'missing', 'unsupported')
    if (refused === undefined) return fine(first.path, valueText(first.found))
    const said =
      refusalWords(refused.found.kind, refused.path) ?? 'not possible: the kernel or the driver does not tell it'
    const isOff = value.field === 'carrier' && refused.found.kind === 'unsupported'
    return broken(refused.path, refused.found.words, isOff ? `sudo ip link set ${shellWord(device)} up` : said)
  }
  const line = await netdevLine(context, device)
  if ('tried' in line) return line
  const shown = value === undefined ? 'its line has 16 counters' : valueText(line[value.field as keyof typeof line])
  return fine(path, shown)
}
