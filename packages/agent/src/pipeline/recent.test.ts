import { testHistory } from '../../../sdk/test/test-history.ts'
import { RecentRing } from './recent.ts'

testHistory('the ring of the last minutes', async () => {
  const history = new RecentRing({ windowS: 3600 })
  return {
    history,
    accept: (batch) => history.accept(batch),
    settle: () => history.flush(),
    close: () => history.close(),
  }
})
