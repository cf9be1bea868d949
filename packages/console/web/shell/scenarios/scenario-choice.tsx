import type { ListedScenario } from '@sonde/sdk/api'
import { titleOf } from '../../format/names.ts'

/** A choice of scenarios with their descriptions. */
export function ScenarioChoice({
  scenarios,
  chosen,
  onChoose,
}: {
  readonly scenarios: readonly ListedScenario[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
}) {
  return (
    <fieldset className="scenario-list">
      <legend className="visually-hidden">Scenario</legend>
      {scenarios.map(({ name, summary }) => (
        <label key={name} className={name === chosen ? 'scenario is-chosen' : 'scenario'}>
          <input type="radio" name="scenario" value={name} checked={name === chosen} onChange={() => onChoose(name)} />
          <span className="scenario-name">{titleOf(name)}</span>
          <span className="scenario-summary">{summary}</span>
        </label>
      ))}
    </fieldset>
  )
}
