import { retryAll } from '../api/query-client.ts'
import { refreshAll, useTypes } from '../api/resources.ts'
import type { KnownColumns } from '../api/use-known-columns.ts'
import { countText } from '../format/number.ts'
import { Empty } from './empty.tsx'

/** Placeholder of missing data: outlines while loading, the reason after a failure. */
export function AnswerState({ answer, panels = 6 }: { readonly answer: KnownColumns; readonly panels?: number }) {
  const types = useTypes()
  const refused = answer.snapshot.queryErrors.values().next().value
  if (answer.isReady && !refused) return null
  const error = refused ?? answer.snapshot.error ?? (types.data ? undefined : types.error)
  if (!error) return <Outlines panels={panels} waitsFor={answer.waitsFor} />
  return (
    <Empty
      icon="critical"
      fact={
        answer.isReady ? `${countText(answer.snapshot.queryErrors.size, 'question')} got no answer.` : 'No data came.'
      }
    >
      {error.message}{' '}
      <button
        type="button"
        className="button"
        onClick={() => {
          refreshAll()
          retryAll()
        }}
      >
        Try now
      </button>
    </Empty>
  )
}

/** Empty panels while data loads, with the reason for the wait. Hidden for the first moment. */
export function Outlines({ panels, waitsFor }: { readonly panels: number; readonly waitsFor: string }) {
  return (
    <div className="chart-grid outlines" aria-busy="true">
      <p className="outlines-words">Waiting for {waitsFor}.</p>
      {Array.from({ length: panels }, (_, place) => `outline-${place}`).map((key) => (
        <div key={key} className="panel outline" />
      ))}
    </div>
  )
}
