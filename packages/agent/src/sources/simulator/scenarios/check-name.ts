import { SondeError } from '@sonde/sdk'
import { closest, show } from '@sonde/sdk/config'
import { SCENARIO_NAMES } from '../names.ts'

const NAMES: readonly string[] = SCENARIO_NAMES

/**
 * Whether there is a scenario of a name.
 *
 * @throws SondeError `SIM_UNKNOWN` with the nearest name, and all that there are.
 */
export function checkName(name: string): void {
  if (NAMES.includes(name)) return
  const nearest = closest(name, NAMES)
  const offer = nearest === undefined ? '' : `, did you mean ${show(nearest)}?`
  throw new SondeError('SIM_UNKNOWN', `unknown scenario ${show(name)}${offer}; allowed: ${NAMES.join(', ')}`)
}
