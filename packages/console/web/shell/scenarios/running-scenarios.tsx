import type { ListedScenario, StartedScenario } from '@sonde/sdk/api'
import { useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useDevices } from '../../api/devices.ts'
import { stopScenario } from '../../api/simulator.ts'
import { Icon } from '../../components/icon.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { titleOf } from '../../format/names.ts'
import { serverNowMs, useSecond } from '../../state/clock.ts'
import { hasSeverity, scenarioDeviceName, timeLeft } from './scenario-form.ts'

/** The running scenarios, each with its remaining time and a button to end it. */
export function RunningScenarios({
  running,
  scenarios,
}: {
  readonly running: readonly StartedScenario[]
  readonly scenarios: readonly ListedScenario[]
}) {
  // Renders every second. The second itself may be before the start of a new scenario.
  useSecond()
  const nowMs = serverNowMs()
  const devices = useDevices().data?.devices ?? []
  const [refusal, setRefusal] = useState('')
  const stop = async (id: string): Promise<void> => {
    try {
      await stopScenario(id)
      setRefusal('')
    } catch (error) {
      setRefusal((error as ApiError).message)
    }
  }
  return (
    <section className="running-scenarios" aria-label="Running scenarios">
      {running.length === 0 && <p className="running-none">None runs: the node is healthy.</p>}
      <ul>
        {running.map((entry) => (
          <li key={entry.id}>
            <StateMark
              tone={entry.onsetMs > nowMs ? 'stale' : 'info'}
              word={entry.onsetMs > nowMs ? 'Waits' : 'Runs'}
            />
            <span className="running-name">{titleOf(entry.name)}</span>
            <span className="running-facts">
              {[entry.device && scenarioDeviceName(entry.device, devices), severityWords(entry, scenarios)]
                .filter(Boolean)
                .join(' · ')}
            </span>
            <span className="running-left num">{timeLeft(entry, nowMs)}</span>
            <button
              type="button"
              className="button"
              aria-label={`Stop ${titleOf(entry.name)}`}
              onClick={() => void stop(entry.id)}
            >
              Stop
            </button>
          </li>
        ))}
      </ul>
      {refusal && (
        <p className="scenario-refusal" role="alert">
          <Icon name="warning" className="is-warning" /> {refusal}
        </p>
      )}
    </section>
  )
}

function severityWords({ name, severity }: StartedScenario, scenarios: readonly ListedScenario[]): string {
  const scenario = scenarios.find((candidate) => candidate.name === name)
  return scenario && hasSeverity(scenario) ? `${severity} ${scenario.severity.unit}` : ''
}
