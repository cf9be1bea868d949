import type { Hint } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { StateTone } from '../../components/state-mark.tsx'
import { deviceTitle } from '../../devices/device.ts'
import { hintState, tileWordsOf } from '../../devices/hint-words.ts'

/** What the state of a device is judged by. */
interface Judgement {
  /** Its worst hint. */
  readonly hint: Hint | undefined
  /** False if the hints are unknown. */
  readonly isJudged: boolean
  /** Whether it has no samples. A silent device is never shown as in range. */
  readonly isSilent: boolean
}

/** State of a device for tables: icon and word. */
export function deviceState(
  device: DeviceInfo,
  { hint, isJudged, isSilent }: Judgement,
): { readonly tone: StateTone; readonly word: string } {
  if (hint) {
    const words = tileWordsOf(hint, deviceTitle(device))
    return { tone: hintState(hint).tone, word: `${words.charAt(0).toUpperCase()}${words.slice(1)}` }
  }
  if (device.state === 'gone') return { tone: 'warning', word: 'Gone' }
  if (isSilent) return { tone: 'absent', word: 'No sample' }
  return isJudged ? { tone: 'ok', word: 'In range' } : { tone: 'absent', word: 'Not judged' }
}
