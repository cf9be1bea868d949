import type { ApiError } from '../api/client.ts'
import { Empty } from './empty.tsx'

/** Shows that an answer is missing, and why; offers to ask again if that is possible. */
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
