import { SondeError } from '@sonde/sdk'
import { closest, show } from '@sonde/sdk/config'
import { SCENARIO_NAMES } from '../names.ts'

const NAMES: readonly string[] = SCENARIO_NAMES

/**
 * Checks that a scenario with this name exists.
 *
 * @throws SondeError `SIM_UNKNOWN` with the nearest name and all valid names.
 */
export function checkScenarioName(name: string): void {
  if (NAMES.includes(name)) return
  const nearest = closest(name, NAMES)
  const offer = nearest === undefined ? '' : `, did you mean ${show(nearest)}?`
  throw new SondeError('SIM_UNKNOWN', `unknown scenario ${show(name)}${offer}; allowed: ${NAMES.join(', ')}`)
}
