import { SondeError } from '@sonde/sdk'
import type { ScenarioRequest } from '@sonde/sdk/api'
import { show } from '@sonde/sdk/config'
import { checkScenarioName } from './check-scenario-name.ts'

/**
 * Default time between the start of the simulator and a scenario from its options, because rules and pages must first
 * see a healthy node. Unit: seconds.
 */
export const START_DELAY_S = 10

const FORM = /^([a-z-]+)(?:@([\w-]+))?(?::([\d.eE+-]*))?(?::([\d.]+))?$/

/**
 * Parses `name@device:severity:delay`; only the name is required: `straggler`, `straggler@gpu-5`, `pfc-storm:0.9`,
 * `link-flap@mlx5_2::30`. The delay is in seconds from the start of the simulator; default: 10.
 *
 * @throws SondeError `SIM_FORM` or `SIM_UNKNOWN`.
 */
export function parseScenario(text: string): ScenarioRequest {
  const match = FORM.exec(text)
  if (match === null)
    throw new SondeError(
      'SIM_FORM',
      `${show(text)} is no scenario; allowed: NAME, NAME@DEVICE, NAME@DEVICE:SEVERITY:DELAY`,
    )
  const [, name = '', device, severity = '', delay] = match
  checkScenarioName(name)
  const value = Number(severity)
  if (severity !== '' && Number.isNaN(value))
    throw new SondeError('SIM_FORM', `the severity of ${show(text)} is ${show(severity)}; allowed: a number`)
  return {
    name,
    ...(device === undefined ? {} : { device }),
    ...(severity === '' ? {} : { severity: value }),
    delayS: delay === undefined ? START_DELAY_S : Number(delay),
  }
}
