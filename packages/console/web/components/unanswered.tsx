import type { ApiError } from '../api/client.ts'
import { Empty } from './empty.tsx'

/** Says that an answer did not come, why, and asks again where that is wanted. */
export function Unanswered({
  fact,
  error,
  onRetry,
}: {
  readonly fact: string
  readonly error: Pick<ApiError, 'message'>
  readonly onRetry: () => void
}) {
  return (
    <Empty icon="critical" fact={fact}>
      {error.message}{' '}
      <button type="button" className="button" onClick={onRetry}>
        Try now
      </button>
    </Empty>
  )
}
