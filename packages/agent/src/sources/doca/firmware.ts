import { broken, type Finding, fine } from '../chains/chain.ts'
import { ReadRefusal } from '../chains/chain-context.ts'

/** The oldest firmware that DOCA Telemetry supports, by the first part of its version, which identifies the adapter. */
const LEAST: Readonly<Record<number, { readonly adapter: string; readonly version: readonly number[] }>> = {
  28: { adapter: 'ConnectX-7', version: [28, 43, 1000] },
  32: { adapter: 'BlueField-3', version: [32, 43, 1000] },
  40: { adapter: 'ConnectX-8', version: [40, 43, 1000] },
}

/** Returns whether a version of firmware, such as `28.43.1000`, is new enough for DOCA Telemetry. */
export function firmwareFinding(path: string, version: string | ReadRefusal): Finding {
  if (version instanceof ReadRefusal) return { state: 'unknown', tried: path, answer: version.words }
  const parts = version.split('.').map(Number)
  const known = LEAST[parts[0] ?? 0]
  if (known === undefined) {
    const named = Object.values(LEAST).map(({ adapter }) => adapter)
    const answer = `${version}; NVIDIA names ${named.join(', ')} and newer`
    return { state: 'unknown', tried: path, answer }
  }
  const { adapter, version: least } = known
  if (!isOlder(parts, least)) return fine(path, `${version}, of a ${adapter}`)
  const fix = `update the firmware to ${least.join('.')} or newer: sudo mlxfwmanager --online -u`
  return broken(path, `${version} is older than ${least.join('.')}, which DOCA Telemetry needs on a ${adapter}`, fix)
}

function isOlder(parts: readonly number[], least: readonly number[]): boolean {
  const at = least.findIndex((part, index) => parts[index] !== part)
  return at >= 0 && !((parts[at] ?? 0) > (least[at] ?? 0))
}
