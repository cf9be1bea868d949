import { useState } from 'react'
import { useSimulator } from '../../api/simulator.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Icon } from '../../components/icon.tsx'
import { RunningScenarios } from './running-scenarios.tsx'
import { ScenarioChoice } from './scenario-choice.tsx'
import { hasSeverity, simulatorLine } from './scenario-form.ts'
import { ScenarioStart } from './scenario-start.tsx'

/** The running and the available scenarios. */
export function ScenarioSheet({ onClose }: { readonly onClose: () => void }) {
  const { data, error } = useSimulator()
  const [chosen, setChosen] = useState<string>()
  const scenarios = data?.scenarios ?? []
  const scenario = scenarios.find(({ name }) => name === chosen) ?? scenarios.find(hasSeverity) ?? scenarios[0]
  return (
    <Dialog label="Scenarios" className="scenario-sheet" onClose={onClose}>
      <header className="dialog-head">
        <h2>Scenarios</h2>
        {data?.enabled && <span className="panel-caption">{simulatorLine(data)}</span>}
        <button type="button" className="button icon-button is-small" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {error && (
        <Empty
          icon="critical"
          fact={data ? 'The running scenarios are no longer known.' : 'The simulator does not answer.'}
        >
          {error.message}
        </Empty>
      )}
      {data && !data.enabled && (
        <Empty fact="No simulator runs here.">
          Start Sonde with --simulate for a simulated node beside the real one.
        </Empty>
      )}
      {data?.enabled && (
        <>
          <RunningScenarios running={data.running} scenarios={data.scenarios} />
          {scenario && (
            <div className="scenario-start">
              <ScenarioChoice scenarios={data.scenarios} chosen={scenario.name} onChoose={setChosen} />
              <ScenarioStart key={scenario.name} scenario={scenario} />
            </div>
          )}
        </>
      )}
    </Dialog>
  )
}
