import type { AppGpuAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { Empty } from '../../components/empty.tsx'
import { usePageState } from '../../state/time-window.ts'

/** States the situation and the next step. */
export function NoNumbers({
  answer: { state, summary, advice },
}: {
  readonly answer: Pick<AppGpuAnswer, 'state' | 'summary' | 'advice'>
}) {
  const page = usePageState()
  const icon = state === 'late' || state === 'disabled' ? 'warning' : 'absent'
  return (
    <Empty icon={icon} fact={summary}>
      {advice.map((sentence) => (
        <span key={sentence} className="empty-line">
          <Advice sentence={sentence} />
        </span>
      ))}
      <Link href={page.hrefTo('/troubleshooting')}>Troubleshooting</Link>
    </Empty>
  )
}

/** The text after the last colon and space is a command or a piece of configuration. */
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
