# No gem is needed:  fixpoint test examples/chef/cookbooks/web

require 'chefspec'

describe 'web::default' do
  platform 'debian', '12'

  it 'writes the page of the platform' do
    expect(chef_run).to render_file('/srv/www/example/index.html').with_content('It works on debian')
  end

  it 'reloads nginx when the site changes' do
    site = chef_run.template('/etc/nginx/sites-available/example.conf')
    expect(site).to notify('execute[reload nginx]').to(:run).delayed
  end

  context 'with another root' do
    default_attributes['web']['root'] = '/srv/other'

    it { is_expected.to create_directory('/srv/other').with(mode: '0755') }
  end
end
