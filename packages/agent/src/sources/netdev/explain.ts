import { shellWord } from '@sonde/sdk/internal'
import { failedIn, type Look, permissionStep, refusedIn, surveyOf, valueText } from '../chains/attributes.ts'
import { broken, type Finding, fine, type SourceExplain, type Step, type ValuePlace } from '../chains/chain.ts'
import type { Ground } from '../chains/ground.ts'
import { interfaceDevices, interfaceSteps, lineOf } from '../chains/network-interface.ts'
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
  steps: (ground) => {
    const path = `${ground.procfs}/net/dev`
    const table = surveyOf(ground, async () => [{ path, parse: (bytes) => parseNetdev(bytes, 0n) }])
    return [
      fileStep(ground, path, `mount -t proc proc ${ground.procfs}: every kernel with networking has this file`),
      fileStep(ground, `${ground.sysfs}/class/net`, `mount -t sysfs sysfs ${ground.sysfs}`),
      permissionStep(table, path),
    ]
  },
  devices: interfaceDevices,
  deviceSteps: (ground, device, value) => interfaceSteps(ground, device, attributeSteps(ground, device, value)),
}

/** Links of the interface's own files; most values come from the table of all. */
function attributeSteps(ground: Ground, device: string, value: ValuePlace | undefined): readonly Step[] {
  const folder = `${ground.sysfs}/class/net/${device}`
  const wanted = Object.entries(FILES).filter(([field]) => value === undefined || field === value.field)
  const files = wanted.map(([, { name, parse }]) => ({ path: `${folder}/${name}`, parse }))
  const survey = surveyOf(ground, async () => files)
  return [
    permissionStep(survey, `${ground.procfs}/net/dev`),
    { name: 'counters', look: async () => lookAtCounters(ground, device, await survey(), value) },
  ]
}

async function lookAtCounters(
  ground: Ground,
  device: string,
  looks: readonly Look[],
  value: ValuePlace | undefined,
): Promise<Finding> {
  const failed = failedIn(looks)
  if (failed !== undefined) return failed
  const path = `${ground.procfs}/net/dev`
  const [first] = looks
  if (value !== undefined && first !== undefined) {
    const [refused] = refusedIn(looks, 'missing', 'unsupported')
    if (refused === undefined) return fine(first.path, valueText(first.found))
    const said =
      refusalWords(refused.found.kind, refused.path) ?? 'not possible: the kernel or the driver does not tell it'
    const isOff = value.field === 'carrier' && refused.found.kind === 'unsupported'
    return broken(refused.path, refused.found.words, isOff ? `sudo ip link set ${shellWord(device)} up` : said)
  }
  const line = await lineOf(ground, device)
  if ('tried' in line) return line
  const shown = value === undefined ? 'its line has 16 counters' : valueText(line[value.field as keyof typeof line])
  return fine(path, shown)
}
