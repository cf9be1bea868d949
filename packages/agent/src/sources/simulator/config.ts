import { choice, integer, list, setting } from '@sonde/sdk/config'
import { messageOf } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { CLASS_NAMES, RUNNING_LIMIT } from './names.ts'
import { parseScenario } from './scenarios/flag.ts'

const SCENARIO = 'a scenario as NAME, NAME@DEVICE, or NAME@DEVICE:SEVERITY:DELAY'

/** Allowed texts in place of an unknown scenario, with a suggestion; empty if the text is valid. */
function allowedFor(text: string): string {
  try {
    parseScenario(text)
    return ''
  } catch (error) {
    const [fault = '', allowed = SCENARIO] = messageOf(error).split('; allowed: ')
    const [, hint = ''] = fault.split(', did you mean ')
    return hint === '' ? allowed : `${allowed} (did you mean ${hint})`
  }
}

const scenario = v.pipe(
  v.string(SCENARIO),
  v.check(
    (text) => allowedFor(text) === '',
    ({ input }) => allowedFor(input),
  ),
)

/** Longest simulated past: a day. Unit: seconds. */
export const PAST_MAX_S = 86_400

/** Options of the simulator in `data_sources`. */
export const simulatorOptions = v.strictObject({
  seed: setting(
    integer(0, 0xffff_ffff, 'any whole number of 32 bits'),
    1,
    'Decides everything that is random: the same seed gives the same node, to the byte',
  ),
  node_class: setting(choice(CLASS_NAMES), 'hgx-h100', 'Kind of node'),
  scenarios: setting(
    list(scenario, RUNNING_LIMIT, 'scenarios'),
    [],
    'Scenarios that begin some seconds after the start: `NAME@DEVICE:SEVERITY:DELAY`, of which the name alone must be there. Default delay: 10 s',
  ),
  past_s: setting(
    integer(0, PAST_MAX_S, 'seconds'),
    0,
    'Length of the simulated past: `sonde up` fills the history before its start with this time, with one fault after the other. Default: none',
  ),
  workload: setting(choice(['training', 'inference']), 'training', 'What the GPUs do where no scenario says otherwise'),
})

/** Parsed {@link simulatorOptions}. */
export type SimulatorOptions = v.InferOutput<typeof simulatorOptions>
