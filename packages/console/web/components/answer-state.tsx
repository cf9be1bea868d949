import { retryAll } from '../api/query-client.ts'
import { refreshAll, useTypes } from '../api/resources.ts'
import type { KnownColumns } from '../api/use-known-columns.ts'
import { Empty } from './empty.tsx'

/** What stands in the place of data that is not there: outlines while it is awaited, the reason where it did not come. */
export function AnswerState({ answer, panels = 6 }: { readonly answer: KnownColumns; readonly panels?: number }) {
  const types = useTypes()
  if (answer.isReady) return null
  const error = answer.snapshot.error ?? (types.data ? undefined : types.error)
  if (!error) return <Outlines panels={panels} />
  return (
    <Empty icon="critical" fact="No data came.">
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

/** Empty panels in the places of those that are awaited; unseen for the first moment. */
function Outlines({ panels }: { readonly panels: number }) {
  return (
    <div className="chart-grid outlines" aria-busy="true">
      <p className="visually-hidden">Loading</p>
      {Array.from({ length: panels }, (_, place) => `outline-${place}`).map((key) => (
        <div key={key} className="panel outline" />
      ))}
    </div>
  )
}
