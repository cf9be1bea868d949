import type { AppGpuAnswer } from '@sonde/sdk/api'
import { Empty } from '../../components/empty.tsx'

/** What is so, and what to do about it. */
export function NoNumbers({
  answer: { state, summary, advice },
}: {
  readonly answer: Pick<AppGpuAnswer, 'state' | 'summary' | 'advice'>
}) {
  const icon = state === 'late' || state === 'disabled' ? 'warning' : 'absent'
  return (
    <Empty icon={icon} fact={summary}>
      {advice.map((sentence) => (
        <span key={sentence} className="empty-line">
          <Advice sentence={sentence} />
        </span>
      ))}
    </Empty>
  )
}

/** What stands after the last colon and space is a command, or a piece of a configuration. */
function Advice({ sentence }: { readonly sentence: string }) {
  const at = sentence.indexOf(': ')
  if (at < 0) return sentence
  return (
    <>
      {sentence.slice(0, at + 2)}
      <code className="mono">{sentence.slice(at + 2)}</code>
    </>
  )
}
