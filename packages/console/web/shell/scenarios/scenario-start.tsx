import type { ListedScenario } from '@sonde/sdk/api'
import { type FormEvent, useId, useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useDevices } from '../../api/devices.ts'
import { startScenario } from '../../api/simulator.ts'
import { Icon } from '../../components/icon.tsx'
import { titleOf } from '../../format/names.ts'
import {
  firstFields,
  hasSeverity,
  problemsOf,
  type ScenarioFields,
  scenarioDeviceName,
  scenarioRequest,
} from './scenario-form.ts'

/** The device, severity, delay and duration of a scenario, and the button that starts it. */
export function ScenarioStart({ scenario }: { readonly scenario: ListedScenario }) {
  const [fields, setFields] = useState(() => firstFields(scenario))
  const [sending, setSending] = useState<'idle' | 'busy' | { readonly refusal: string }>('idle')
  const devices = useDevices().data?.devices ?? []
  const problems = problemsOf(scenario, fields)
  const isWrong = Object.keys(problems).length > 0
  const write = (name: keyof ScenarioFields) => (value: string) => setFields((before) => ({ ...before, [name]: value }))
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (isWrong || sending === 'busy') return
    setSending('busy')
    try {
      await startScenario(scenarioRequest(scenario, fields))
      setSending('idle')
    } catch (error) {
      setSending({ refusal: (error as ApiError).message })
    }
  }
  return (
    <form
      className="scenario-form"
      aria-label={titleOf(scenario.name)}
      noValidate
      onSubmit={(event) => void send(event)}
    >
      {scenario.targets.length > 0 && (
        <label className="scenario-field">
          <span>Device</span>
          <select
            className="input"
            value={fields.device}
            onChange={(event) => write('device')(event.currentTarget.value)}
          >
            <option value="">any {scenario.target.toUpperCase()}</option>
            {scenario.targets.map((id) => (
              <option key={id} value={id}>
                {scenarioDeviceName(id, devices)}
              </option>
            ))}
          </select>
        </label>
      )}
      {hasSeverity(scenario) && (
        <NumberField
          label="Severity"
          unit={scenario.severity.unit}
          value={fields.severity}
          problem={problems.severity}
          onChange={write('severity')}
        />
      )}
      <NumberField
        label="Begins after"
        unit="s"
        value={fields.delayS}
        problem={problems.delayS}
        onChange={write('delayS')}
      />
      <NumberField
        label="Lasts"
        unit="s"
        value={fields.durationS}
        problem={problems.durationS}
        onChange={write('durationS')}
      />
      {typeof sending === 'object' && (
        <p className="scenario-refusal" role="alert">
          <Icon name="warning" className="is-warning" /> {sending.refusal}
        </p>
      )}
      <button type="submit" className="button is-primary" disabled={isWrong || sending === 'busy'}>
        Start
      </button>
    </form>
  )
}

function NumberField({
  label,
  unit,
  value,
  problem,
  onChange,
}: {
  readonly label: string
  readonly unit: string
  readonly value: string
  readonly problem: string | undefined
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div className="scenario-field">
      <label htmlFor={id}>
        {label} <span className="unit">{unit}</span>
      </label>
      <input
        id={id}
        className="input num"
        inputMode="decimal"
        autoComplete="off"
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem ? `${id}-problem` : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {problem && (
        <p id={`${id}-problem`} className="scenario-problem">
          {problem}
        </p>
      )}
    </div>
  )
}
